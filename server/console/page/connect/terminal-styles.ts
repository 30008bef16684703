/**
 * Applies the styles of the terminal library in spite of the Content-Security-Policy. The policy
 * forbids the `<style>` elements and `style` attributes that the library writes, but allows
 * constructed style sheets and the style object model.
 */

/** Opens a terminal and redirects its styles until the returned function is called. */
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

/**
 * Returns an element that replaces a `<style>` element and writes its text into a constructed style
 * sheet.
 */
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

/**
 * Redirects `style` attributes of spans, which hold the colours of the output, to the style object
 * model. Returns a function that ends this.
 */
function takeStyleAttributes(): () => void {
  const { prototype } = HTMLSpanElement;
  const originalSetAttribute = prototype.setAttribute;
  prototype.setAttribute = function setAttribute(this: HTMLSpanElement, name, value) {
    if (name === 'style') this.style.cssText = value;
    else originalSetAttribute.call(this, name, value);
  };
  return () => {
    prototype.setAttribute = originalSetAttribute;
  };
}
