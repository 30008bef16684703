/**
 * Tells Stryker which mutants change words only: the texts of refusals, and the reasons and notes
 * that go into journal and audit log. The contract leaves them open ("Catalogue of error messages:
 * not shown"), so no case may judge them.
 */

const wordsOf = new Set(['because', 'change', 'expected', 'actual', 'path', 'diagnose']);

/** Parts of the syntax tree, as Babel names them, whose mutants are not made. */
function shouldIgnore(path) {
  if (path.isObjectProperty() && wordsOf.has(path.node.key.name)) {
    return 'words: a reason or a note, which the contract leaves open';
  }
  const isRefusal = (node) =>
    node.isCallExpression() && node.get('callee').toString().startsWith('refuse.');
  if (path.listKey === 'arguments' && path.parentPath && isRefusal(path.parentPath)) {
    return 'words: the text of a refusal, which the contract leaves open';
  }
  return undefined;
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'words', value: { shouldIgnore } }];
