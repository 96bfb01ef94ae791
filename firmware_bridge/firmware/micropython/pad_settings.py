"""What this pad is. Edit here, then copy it to the board."""

BOARD = "pico"  # or "esp32": the file board_NAME.py has its pins
ID = "pad1"  # 1 to 24 of a-z, 0-9 and -, another one for each board

# For a pad on Wi-Fi; without a network it talks over its cable only.
WIFI = ""
WIFI_PASSWORD = ""
BROKER = ""  # the host's name or address
BROKER_PORT = 1883
BROKER_USER = ""
BROKER_PASSWORD = ""
TABLE = "table"
