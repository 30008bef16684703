/**
 * Selects mutants that Stryker ignores: changes to messages and diagnostics, on which no response
 * of the contract depends. Each ignored mutant is reported with its reason.
 */

const words = 'words: the contract has no catalogue of messages, reasons and notes';
const doctor = 'the doctor: a diagnosis is not a response of the device API';

/** Names of members whose values are ignored. */
const members = {
  reason: words,
  change: words,
  expected: words,
  actual: words,
  path: words,
  diagnose: doctor,
  requirement: doctor,
  noUpdate: doctor,
  rule: doctor,
};

/** Functions that are ignored entirely. */
const functions = {
  reasonOf: words,
  keysOfFleet: doctor,
  otherVendors: doctor,
  unsuitableReason: doctor,
};

/** Identifiers; a declaration, condition or statement that contains one is ignored. */
const mentions = {
  KEPT_MAX_BYTES: doctor,
  signatureFormats: words,
  keysOfFleet: doctor,
  requirementOf: doctor,
  notIdentity: doctor,
  noDeployment: doctor,
};

/**
 * Returns the code that decides whether this part of the tree is ignored; '' when there is none.
 */
function codeOf(path) {
  if (path.isIfStatement() || path.isConditionalExpression()) return path.get('test').toString();
  if (path.isSpreadElement() || path.isLogicalExpression()) return path.toString();
  const isLocal = path.isVariableDeclarator() && !path.toString().includes('defineEndpoint(');
  return isLocal ? path.toString() : '';
}

const own = (table, name) => (Object.hasOwn(table, name) ? table[name] : undefined);

/** Returns true for a table row that contains only an explanation. */
function isListed(path) {
  const names = path.node.properties.map(({ key }) => key?.name);
  return path.parentPath.isObjectProperty() && names.join() === 'reason';
}

function isRefusal(path) {
  return path.isCallExpression() && path.get('callee').toString().startsWith('refuse.');
}

/**
 * Returns why the mutants of a node are ignored; undefined otherwise. Stryker calls it for each
 * node of the Babel syntax tree.
 */
function shouldIgnore(path) {
  if (path.isObjectExpression() && isListed(path)) return words;
  if (path.isObjectProperty()) return own(members, path.node.key.name ?? path.node.key.value);
  if (path.isFunctionDeclaration()) return own(functions, path.node.id?.name);
  if (path.listKey === 'arguments' && path.parentPath && isRefusal(path.parentPath)) return words;
  const code = codeOf(path);
  return code && Object.entries(mentions).find(([word]) => code.includes(word))?.[1];
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'left-open', value: { shouldIgnore } }];
