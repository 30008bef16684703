/**
 * Finds two errors in prose: an identifier such as `deviceType` outside backquotes, and the wrong
 * article before a word (`a` for `an`, or the reverse). Prose is the text of comments, documents
 * and test titles, and of the sentences in other string literals.
 */

/** Least number of plain words on a line of a string literal that is a sentence. */
const SENTENCE_WORDS = 4;

const commentLine = /^\s*(?:\/\/+|\/\*+|\*(?![#\w]))\/?/;
const literal =
  /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\[\s\S])*)`|>([^<>{}\n]*)</g;
const titleStart = /(?:\b(?:it|describe)(?:\.\w+)*|\))\(\s*$/;
const plainWord = /^["'(]?[A-Za-z]+[.,:;)"']?$/;

/** Parts that are not prose: code, addresses, and the types and names of parameters. */
const code =
  /`[^`]*`|\$\{[^}]*\}|\{@link[^}]*\}|@type \{[^@]*\}|@(?:param|property) \S+|\w+:\/\/\S+|^ {4,}.*$/gm;

/**
 * An identifier such as `deviceType`; product names and units that are written so are not errors.
 */
const identifier =
  /(?<![\w./#$@<{-])(?!(?:httpYac|iCalendar|kB|uPlot|xxHash64)\b)[a-z][a-z0-9]*[A-Z]\w*(?![\w/=(]|\.\w)/g;
/**
 * An identifier within a sentence. A message may begin with the name of a member, or list names.
 */
const identifierInSentence = new RegExp(
  `(?<=\\b(?!(?:are|or|and|to|const) )[a-z]{2,} )${identifier.source}`,
  'g',
);

const articles = [
  {
    pattern:
      /\b[Aa]n\s+(?:[b-df-gj-np-tvwyz](?!pm|th\b)[a-z]|h(?!our|onest|eir|ttp|tml)[a-z]|u(?:se|ni[tqvf]|tf)|one\b|once\b|[BCDGJKPQTUVWYZ](?:[A-Z]|\b))\w*/g,
    article: 'a',
  },
  {
    pattern:
      /\b[Aa]\s+(?!(?:a|all|also|and|are|as|at|after|else|if|in|instead|is|of|on|or|only)\b)(?:[aiAI][a-z]|[eE](?!u)[a-z]|[oO](?!n[ce])[a-z]|u(?!s[aeu]|ni|ti|[iu]?id)[a-z]|(?:API|ASN|EC|ECDSA|HTML|HTTP|ID|IO|IP|MD5|RFC|RSA|RST|SSH|SVG|XML)\b)\w*/g,
    article: 'an',
  },
];

/** Returns the errors in the prose of a file, each with its line and a sentence. */
export function proseErrors(path, text) {
  if (path.endsWith('.md')) return errorsIn(withoutCodeBlocks(text), identifierInSentence);
  const lines = text.split('\n');
  const isComment = lines.map((line) => commentLine.test(line));
  const comments = lines.map((line, at) => (isComment[at] ? line.replace(commentLine, '') : ''));
  const rest = lines.map((line, at) => (isComment[at] ? '' : line)).join('\n');
  return [...errorsIn(comments.join('\n'), identifier), ...literalErrors(path, rest)];
}

function withoutCodeBlocks(text) {
  return text.replace(/^ *```[\s\S]*?^ *```/gm, (block) => block.replace(/[^\n]/g, ''));
}

function literalErrors(path, text) {
  const errors = [];
  for (const { 0: whole, 1: single, 2: double, 3: template, 4: jsx, index } of text.matchAll(
    literal,
  )) {
    const content = single ?? double ?? template ?? jsx;
    const isTitle = titleStart.test(text.slice(Math.max(0, index - 80), index));
    if (!isTitle && (!content.includes(' ') || /\.test\.ts$|\/testing\//.test(path))) continue;
    const sentences = isTitle ? content : content.split('\n').map(sentenceOrBlank).join('\n');
    const pattern = isTitle ? identifier : identifierInSentence;
    const found = errorsIn(sentences, pattern);
    if (found.length === 0) continue;
    const start = text.slice(0, index + whole.indexOf(content)).split('\n').length;
    errors.push(...found.map((error) => ({ ...error, line: error.line + start - 1 })));
  }
  return errors;
}

function sentenceOrBlank(line) {
  const words = line.split(' ').filter((word) => plainWord.test(word));
  return words.length >= SENTENCE_WORDS ? line : '';
}

function errorsIn(text, identifiers) {
  const prose = text.replace(code, (part) => part.replace(/[^\n]/g, '_'));
  const errors = [...prose.matchAll(identifiers)].map(({ 0: name, index }) => ({
    line: prose.slice(0, index).split('\n').length,
    sentence: `"${name}" is an identifier: write it in backquotes, or in plain words`,
  }));
  for (const { pattern, article } of articles)
    for (const { 0: words, index } of prose.matchAll(pattern))
      errors.push({
        line: prose.slice(0, index).split('\n').length,
        sentence: `"${words.replace(/\s+/g, ' ')}": write "${article}"`,
      });
  return errors;
}
