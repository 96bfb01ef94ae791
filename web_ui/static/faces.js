// Pictures from a phone are shrunk before they are sent: quicker over a hall's network, and nothing is lost for reading.
const LONG_PX = 1600;
const QUALITY = 0.92;

async function shrunk(file) {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, LONG_PX / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(bitmap.width * scale);
  canvas.height = Math.round(bitmap.height * scale);
  canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", QUALITY));
  return new File([blob], file.name, { type: "image/jpeg" });
}

async function shrink(form) {
  const input = form.elements.pictures;
  const small = new DataTransfer();
  for (const file of input.files) small.items.add(await shrunk(file));
  input.files = small.files;
}

for (const form of document.querySelectorAll("form.shots")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    document.getElementById("busy").textContent = form.dataset.busy;
    event.submitter?.setAttribute("aria-disabled", "true");
    try {
      await shrink(form);
    } catch {
      // what this browser cannot open goes as it is; the table says whether it can
    }
    form.submit();
  });
}

// After a picture was learnt the sentence about it is read out, and the keyboard goes on there.
document.getElementById("said")?.focus();
