/**
 * Finds names in comments that the code does not have, as after a rename: an identifier in
 * backquotes that occurs in no code of the repository, and an `@param` of another function.
 */

const comment =
  /^[ \t]*\{?\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*(?:\n[ \t]*\/\/.*)*|(?<=[\s;{,])\/\/ .*$/gm;
const quoted = /`([^`]+)`/g;
/** An identifier that is not part of a path, a header name or a literal. */
const word = /(?<![\w$/"'-])[A-Za-z_$][\w$]*(?![\w$/-])/g;
const camelOrCapitals = /^[a-z]+\w*[A-Z]|^[A-Z][a-z]|^[A-Z]+_[A-Z\d_]+$/;
const parameter = /@param (?:\{[^}]*\} )?\[?([\w$.]+)/g;

/** Returns the identifiers in the code of a file, including those in its literals. */
export function namesInCode(text) {
  return text.replace(comment, '').match(/[A-Za-z_$][\w$]*/g) ?? [];
}

/** Returns the wrong names in the comments of a file, each with its line and a sentence. */
export function nameErrors(text, namesOfRepository) {
  const errors = [];
  for (const { 0: content, index } of text.matchAll(comment)) {
    const add = (at, sentence) =>
      errors.push({ line: text.slice(0, index + at).split('\n').length, sentence });
    for (const { 1: code, index: at } of content.matchAll(quoted)) {
      for (const name of code.match(word) ?? []) {
        if (!camelOrCapitals.test(name) || namesOfRepository.has(name)) continue;
        add(at, `no code has the name \`${name}\`: write the present name, or plain words`);
      }
    }
    const parameters = parametersFrom(text, index + content.length);
    for (const { 1: name, index: at } of content.matchAll(parameter)) {
      if (parameters.has(name)) continue;
      add(at, `the function has no parameter ${name}: name a present one, or use a sentence`);
    }
  }
  return errors;
}

/** Returns the words in the first pair of parentheses from a position in a source text. */
function parametersFrom(text, start) {
  const from = text.indexOf('(', start);
  let depth = 0;
  let end = from;
  do {
    if (text[end] === '(') depth += 1;
    if (text[end] === ')') depth -= 1;
    end += 1;
  } while (depth > 0 && end < text.length);
  return new Set(text.slice(from, end).match(/[\w$]+/g));
}
