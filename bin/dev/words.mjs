/**
 * `node bin/dev/words.mjs`: finds words and phrases that the project does not use, errors in prose,
 * and names that the code does not have, in sources and documents; part of `npm run check`. With
 * `--sentences FILE` it collects every text of three words or more in production code, and every
 * document, in one file for proofreading.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { nameErrors, namesInCode } from './names.mjs';
import { proseErrors } from './prose.mjs';
import { unwanted } from './unwanted-words.mjs';

/** Least number of words in a collected text; shorter texts are names, units and labels. */
const SENTENCE_WORDS = 3;

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
});
const paths = tracked.split('\n').filter((path) => !path.startsWith('bin/dev/unwanted-words'));
const sources = paths.filter((path) => /\.(ts|tsx|mjs)$/.test(path));
const documents = paths.filter((path) => path.endsWith('.md') && path !== 'CHANGELOG.md');

const [option, target] = process.argv.slice(2);
if (option === '--sentences') await writeSentences(target);
else findUnwanted();

function findUnwanted() {
  let found = 0;
  const texts = new Map(
    [...sources, ...documents].map((path) => [path, readFileSync(path, 'utf8')]),
  );
  for (const [path, text] of texts) {
    for (const { pattern, instead, except = [] } of unwanted) {
      if (except.some((start) => path.startsWith(start))) continue;
      for (const { 0: word, index } of text.matchAll(pattern)) {
        found += 1;
        const line = text.slice(0, index).split('\n').length;
        process.stderr.write(`${path}:${line}: "${word.replace(/\s+/g, ' ')}": write ${instead}\n`);
      }
    }
    for (const { line, sentence } of proseErrors(path, text)) {
      found += 1;
      process.stderr.write(`${path}:${line}: ${sentence}\n`);
    }
  }
  found += countMissingFiles() + countMissingNames(sources.map((path) => [path, texts.get(path)]));
  process.stdout.write(
    `${found} unwanted words, errors in prose and missing names in ${sources.length + documents.length} files\n`,
  );
  if (found > 0) process.exitCode = 1;
}

/** Counts the files that a comment names in backquotes and that do not exist. */
function countMissingFiles() {
  let missing = 0;
  for (const path of sources) {
    const lines = readFileSync(path, 'utf8').split('\n');
    for (const [index, line] of lines.entries()) {
      if (!/^\s*(\/\/|\/?\*)/.test(line)) continue;
      for (const [, name] of line.matchAll(/`([\w./-]+\.(?:ts|tsx|mjs))`/g)) {
        if (paths.some((each) => `/${each}`.endsWith(`/${name.replace(/^(\.\.?\/)+/, '')}`)))
          continue;
        missing += 1;
        process.stderr.write(`${path}:${index + 1}: there is no file ${name}\n`);
      }
    }
  }
  return missing;
}

/** Counts the names in comments of sources that the code does not have. */
function countMissingNames(texts) {
  const names = new Set(texts.flatMap(([, text]) => namesInCode(text)));
  let missing = 0;
  for (const [path, text] of texts) {
    for (const { line, sentence } of nameErrors(text, names)) {
      missing += 1;
      process.stderr.write(`${path}:${line}: ${sentence}\n`);
    }
  }
  return missing;
}

async function writeSentences(path) {
  const { default: ts } = await import('typescript');
  const lines = [];
  for (const source of sources.filter(
    (name) => !/\.test\.ts$|\/testing\/|^bin\/dev\//.test(name),
  )) {
    const file = ts.createSourceFile(source, readFileSync(source, 'utf8'), ts.ScriptTarget.Latest);
    const sentences = [];
    const visit = (node) => {
      const text = ts.isTemplateExpression(node)
        ? file.text.slice(node.pos, node.end)
        : ts.isStringLiteralLike(node) || ts.isJsxText(node)
          ? node.text
          : '';
      if (text.trim().split(/\s+/).length >= SENTENCE_WORDS) sentences.push(text.trim());
      ts.forEachChild(node, visit);
    };
    visit(file);
    if (sentences.length > 0) lines.push('', `## ${source}`, ...sentences);
  }
  for (const document of documents)
    lines.push('', `## ${document}`, readFileSync(document, 'utf8'));
  writeFileSync(path, `${lines.join('\n').trim()}\n`);
}
