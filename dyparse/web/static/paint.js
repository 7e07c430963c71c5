// An SVG picture painted on a canvas, for PNG: the policy of the page allows no images from data.

const SCALE = 2; // pixels of the picture for one of the page

/** The PNG of a picture whose style is in its attributes. */
export function paint(picture) {
  const { width, height } = picture.viewBox.baseVal;
  const canvas = document.createElement("canvas");
  canvas.width = width * SCALE;
  canvas.height = height * SCALE;
  const brush = canvas.getContext("2d");
  brush.scale(SCALE, SCALE);
  brush.fillStyle = "#fff";
  brush.fillRect(0, 0, width, height);
  for (const element of picture.querySelectorAll("path, rect, text")) paintElement(brush, element);
  return new Promise((done, failed) => {
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("the picture is too large"))));
  });
}

function paintElement(brush, element) {
  const of = (name, other = "") => element.getAttribute(name) ?? other;
  const number = (name) => Number.parseFloat(of(name, "0"));
  brush.globalAlpha = number("opacity") * Number.parseFloat(element.parentNode.getAttribute("opacity") ?? 1);
  brush.fillStyle = of("fill");
  brush.strokeStyle = of("stroke");
  brush.lineWidth = number("stroke-width");
  brush.setLineDash(of("stroke-dasharray").split(/[ ,]+/).map(Number.parseFloat).filter((n) => n >= 0));
  const hasFill = of("fill") !== "none";
  const hasLine = !["none", ""].includes(of("stroke"));
  if (element.tagName === "text") {
    brush.font = `${of("font-weight", "400")} ${of("font-size")} ${of("font-family")}`;
    brush.textAlign = "center";
    if (hasLine) brush.strokeText(element.textContent, number("x"), number("y"));
    brush.fillText(element.textContent, number("x"), number("y"));
    return;
  }
  const path = element.tagName === "path" ? new Path2D(of("d")) : new Path2D();
  if (element.tagName === "rect") path.roundRect(number("x"), number("y"), number("width"), number("height"), number("rx"));
  if (hasFill) brush.fill(path);
  if (hasLine) brush.stroke(path);
}
