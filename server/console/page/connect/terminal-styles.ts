/**
 * Keeps the styles of the terminal library under the Content-Security-Policy, which forbids the
 * `<style>` elements and `style` attributes that it writes, but neither constructed sheets nor the
 * object model.
 */

/** Opens a terminal; what it writes from then on is let through until the returned function is called. */
export function openStyled(open: () => void): () => void {
  const sheets: CSSStyleSheet[] = [];
  const create = document.createElement;
  document.createElement = (tag: string) =>
    tag === 'style' ? sheetElement(create.bind(document), sheets) : create.call(document, tag);
  try {
    open();
  } finally {
    document.createElement = create;
  }
  const restore = takeStyleAttributes();
  return () => {
    restore();
    const { adoptedStyleSheets: all } = document;
    document.adoptedStyleSheets = all.filter((sheet) => !sheets.includes(sheet));
  };
}

/** Stands where a `<style>` would: its text goes into a sheet. */
function sheetElement(create: (tag: string) => HTMLElement, sheets: CSSStyleSheet[]): HTMLElement {
  const element = create('span');
  element.hidden = true;
  const sheet = new CSSStyleSheet();
  sheets.push(sheet);
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(element, 'textContent', {
    set: (css: string) => sheet.replaceSync(css),
    get: () => '',
  });
  return element;
}

/** The colours of the output are in attributes of spans. */
function takeStyleAttributes(): () => void {
  const { prototype } = HTMLSpanElement;
  const plain = prototype.setAttribute;
  prototype.setAttribute = function setAttribute(this: HTMLSpanElement, name, value) {
    if (name === 'style') this.style.cssText = value;
    else plain.call(this, name, value);
  };
  return () => {
    prototype.setAttribute = plain;
  };
}
