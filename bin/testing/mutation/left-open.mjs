/**
 * Tells Stryker which mutants no case of the suite may judge, and why: words, and what our server
 * does where the contract leaves it open or is silent. Each is reported as ignored with its reason.
 */

const words = 'words: the contract has no catalogue of messages, reasons and notes';
const bounds = 'bounds: the contract names no maximum here; this one is our own';
const variants = 'variants: habits of other servers, which are off unless they are asked for';
const silent = 'silent: the contract does not know this';
const vendor = 'vendor: what id_data holds is up to the maker of the device';
const choice = 'choice: which artifact a deployment has for a device, and when none, is left open';
const columns = 'columns: which fields of an entry the CSV has as columns is taken as left open';
const cost = 'cost: it saves work and changes no answer';

/** Names of members whose values are left alone. */
const members = {
  because: words,
  change: words,
  expected: words,
  actual: words,
  path: words,
  diagnose: 'the doctor: a diagnosis is no answer of the device API',
  'too-many-keys': bounds,
  'limit-reached': silent,
  'Content-Disposition': silent,
  downloadName: silent,
  provides: silent,
  clearsProvides: silent,
};

/** Functions that are left alone as a whole. */
const functions = {
  mayAccept: silent,
  reasonOf: words,
  keysOfFleet: members.diagnose,
  beginDeltaJob: silent,
  tell: silent,
  tooManyAttributes: bounds,
  tooManyTags: bounds,
  countOf: bounds,
  bounded: bounds,
  keepSettings: variants,
  reported: variants,
  hasRecord: variants,
  provisioningDelayMs: variants,
  hasBegun: variants,
  provisionedSinceMs: variants,
  isProvisioned: variants,
};

/** Words of the code; a declaration, condition or statement that has one is left alone. */
const mentions = {
  'variants.has(': variants,
  KEPT_MAX_BYTES: members.diagnose,
  authSetsMax: bounds,
  DEPTH_MAX: bounds,
  depthLeft: bounds,
  'typeof canonical': bounds,
  'Array.isArray(data)': vendor,
  'Number.isFinite': vendor,
  signatureForms: words,
  keysOfFleet: members.diagnose,
  '!tenant': silent,
  areOne: silent,
  hasRoomFor: silent,
  isBarred: silent,
  autoAccept: silent,
  externalId: silent,
  sendsAlertEmails: silent,
  beginDeltaJob: silent,
  halfSurrogate: bounds,
  tooMany: bounds,
  "'because' in told": bounds,
  "'because' in configured": bounds,
  "'because' in reported": bounds,
  'hasRecord(': variants,
  isMapOnTop: variants,
  isSplit: variants,
  '!waiting': cost,
  mayHaveWork: cost,
  failed: silent,
  'part.artifactId': choice,
  'artifactId !== undefined': choice,
  isInstalled: choice,
  "'already-installed'": choice,
  sizeBytes: choice,
  'columns: readonly': columns,
  'part.request === undefined': silent,
  'pairs =': silent,
  escape_formulas: silent,
};

/** The code that decides whether this part of the tree is left alone; '' when it is not asked. */
function codeOf(path) {
  if (path.isIfStatement() || path.isConditionalExpression()) return path.get('test').toString();
  const isSmall = path.isSpreadElement() || path.isLogicalExpression() || isShortFunction(path);
  const isArgument = path.isObjectExpression() && path.listKey === 'arguments';
  if (isSmall || isArgument || isLocalDeclaration(path)) return path.toString();
  return '';
}

const own = (table, name) => (Object.hasOwn(table, name) ? table[name] : undefined);

function isShortFunction(path) {
  return path.isArrowFunctionExpression() && !path.get('body').isBlockStatement();
}

function isLocalDeclaration(path) {
  return path.isVariableDeclarator() && !path.toString().includes('defineEndpoint(');
}

/** A row of a table that says nothing but why. */
function isOfWords(path) {
  const names = path.node.properties.map(({ key }) => key?.name);
  return path.parentPath.isObjectProperty() && names.join() === 'because';
}

function isRefusal(path) {
  return path.isCallExpression() && path.get('callee').toString().startsWith('refuse.');
}

/** What users are shown of a deployment that is over belongs to the management API. */
function isSettling(path) {
  return path.isCallExpression() && path.get('callee').toString() === 'parts.settle';
}

/** Stryker asks this of each part of the syntax tree, as Babel names them. */
function shouldIgnore(path) {
  if (path.isObjectExpression() && isOfWords(path)) return words;
  if (path.isObjectProperty()) return own(members, path.node.key.name ?? path.node.key.value);
  if (path.isFunctionDeclaration()) return own(functions, path.node.id?.name);
  if (path.listKey === 'arguments' && path.parentPath && isRefusal(path.parentPath)) return words;
  if (path.listKey === 'arguments' && path.parentPath && isSettling(path.parentPath)) return silent;
  const code = codeOf(path);
  return code && Object.entries(mentions).find(([word]) => code.includes(word))?.[1];
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'left-open', value: { shouldIgnore } }];
