/**
 * Tells Stryker which mutants the suite is not asked about: those of words and of diagnoses, which no
 * answer of the contract depends on. Each is reported as ignored with its reason.
 */

const words = 'words: the contract has no catalogue of messages, reasons and notes';
const doctor = 'the doctor: a diagnosis is no answer of the device API';

/** Names of members whose values are left alone. */
const members = {
  because: words,
  change: words,
  expected: words,
  actual: words,
  path: words,
  diagnose: doctor,
};

/** Functions that are left alone as a whole. */
const functions = { reasonOf: words, keysOfFleet: doctor };

/** Words of the code; a declaration, condition or statement that has one is left alone. */
const mentions = { KEPT_MAX_BYTES: doctor, signatureForms: words, keysOfFleet: doctor };

/** The code that decides whether this part of the tree is left alone; '' when it is not asked. */
function codeOf(path) {
  if (path.isIfStatement() || path.isConditionalExpression()) return path.get('test').toString();
  if (path.isSpreadElement() || path.isLogicalExpression()) return path.toString();
  const isLocal = path.isVariableDeclarator() && !path.toString().includes('defineEndpoint(');
  return isLocal ? path.toString() : '';
}

const own = (table, name) => (Object.hasOwn(table, name) ? table[name] : undefined);

/** A row of a table that says nothing but why. */
function isOfWords(path) {
  const names = path.node.properties.map(({ key }) => key?.name);
  return path.parentPath.isObjectProperty() && names.join() === 'because';
}

function isRefusal(path) {
  return path.isCallExpression() && path.get('callee').toString().startsWith('refuse.');
}

/** Stryker asks this of each part of the syntax tree, as Babel names them. */
function shouldIgnore(path) {
  if (path.isObjectExpression() && isOfWords(path)) return words;
  if (path.isObjectProperty()) return own(members, path.node.key.name ?? path.node.key.value);
  if (path.isFunctionDeclaration()) return own(functions, path.node.id?.name);
  if (path.listKey === 'arguments' && path.parentPath && isRefusal(path.parentPath)) return words;
  const code = codeOf(path);
  return code && Object.entries(mentions).find(([word]) => code.includes(word))?.[1];
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'left-open', value: { shouldIgnore } }];
