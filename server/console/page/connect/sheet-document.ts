/**
 * A document for the terminal library, which writes its styles into `<style>` elements and `style`
 * attributes: the Content-Security-Policy forbids both, but neither constructed sheets nor the
 * object model.
 */

/** The same document, but for how elements take their styles. */
export function sheetDocument(real: Document): Document {
  return new Proxy(real, {
    get(target, name) {
      if (name === 'createElement') return (tag: string) => elementOf(target, tag);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Runs work of the library that asks the real document for elements, whatever it was given. */
export function withSheets(real: Document, work: () => void): void {
  const plain = real.createElement;
  const create = plain.bind(real);
  real.createElement = (tag: string) =>
    tag === 'style' ? sheetElement(real, create) : create(tag);
  try {
    work();
  } finally {
    real.createElement = plain;
  }
}

function elementOf(real: Document, tag: string): HTMLElement {
  if (tag === 'style') return sheetElement(real, (each) => real.createElement(each));
  const element = real.createElement(tag);
  const plain = element.setAttribute.bind(element);
  element.setAttribute = (name, value) => {
    if (name === 'style') element.style.cssText = value;
    else plain(name, value);
  };
  return element;
}

/** Stands where a `<style>` would: its text goes into a sheet, which leaves with it. */
function sheetElement(real: Document, create: (tag: string) => HTMLElement): HTMLElement {
  const element = create('span');
  element.hidden = true;
  const sheet = new CSSStyleSheet();
  real.adoptedStyleSheets.push(sheet);
  Object.defineProperty(element, 'textContent', {
    set: (css: string) => sheet.replaceSync(css),
    get: () => '',
  });
  const leave = element.remove.bind(element);
  element.remove = () => {
    const sheets = real.adoptedStyleSheets;
    real.adoptedStyleSheets = sheets.filter((each) => each !== sheet);
    leave();
  };
  return element;
}
