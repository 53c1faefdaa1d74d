/** Saves a text as a file of the user's. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Some browsers read it only after the click was handled.
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
