// Pictures from a phone are shrunk before they are sent: quicker over a hall's network, and nothing is lost for reading.
const QUALITY = 0.92;

async function shrunk(file, longest) {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, longest / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(bitmap.width * scale);
  canvas.height = Math.round(bitmap.height * scale);
  canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", QUALITY));
  return new File([blob], file.name, { type: "image/jpeg" });
}

async function shrink(input, longest) {
  const small = new DataTransfer();
  for (const file of input.files) small.items.add(await shrunk(file, longest));
  input.files = small.files;
}

// Every form of pictures on this page; `data-long` is the longest side that is worth sending, in px.
for (const form of document.querySelectorAll("form.shots")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    document.getElementById("busy").textContent = form.dataset.busy;
    event.submitter?.setAttribute("aria-disabled", "true");
    try {
      await shrink(form.querySelector("input[type=file]"), Number(form.dataset.long || 1600));
    } catch {
      // what this browser cannot open goes as it is; the table says whether it can
    }
    form.submit();
  });
}

// After a picture was read the sentence about it is read out, and the keyboard goes on there.
document.getElementById("said")?.focus();
