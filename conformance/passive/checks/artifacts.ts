/**
 * Passive checks of artifacts: a field has the same value in every response that shows the
 * artifact. Spec: Artifact; DeploymentInstructions (v1)
 */
import { isObject } from '../../../fixtures/base/json.ts';
import { fieldsOf, tables } from '../../../fixtures/contract/resource-tables.ts';
import { describeValue } from '../../target/expectations.ts';
import type { ExchangeHistory, PassiveCheck, Violation } from '../check.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import { memberAt, requirementOn, timeOf } from '../response-parts.ts';
import type { RunHistory } from '../run-history.ts';

/** Longer lists are not compared, since the comparison takes quadratic time. */
const LIST_MAX = 100;
const MS_PER_DAY = 86_400_000;
const instructing = ['get-next-deployment', 'post-next-deployment'];

/** The members of an artifact that come from its file and therefore never change. */
const ofTheFile = [
  ...['name', 'device_types_compatible', 'info', 'signed', 'artifact_provides'],
  ...['artifact_depends', 'clears_artifact_provides', 'size', 'updates'],
] as const;

/** The names of all fields of an artifact, at any depth, except the free-form payload metadata. */
const fieldNames = new Set(
  tables
    .filter(({ name }) => name === 'Artifact')
    .flatMap(fieldsOf)
    .map(({ path }) => path.at(-1))
    .filter((name) => !/^meta_?data$/.test(name ?? '')),
);

/** Members with free pairs. If such a member is present, it must have all pairs. */
const pairs: readonly string[] = ['artifact_provides', 'artifact_depends'];

/**
 * Returns true if two values may be the same field of one artifact. The contract does not fix the
 * order of lists or the time zone of date-times. Members that only one of the objects has, and
 * members that the contract does not define, are not compared.
 */
function mayBeSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    const [oneList, otherList]: [readonly unknown[], readonly unknown[]] = [one, other];
    if (oneList.length !== otherList.length) return false;
    if (oneList.length > LIST_MAX) return true;
    return (
      oneList.every((each) => otherList.some((found) => mayBeSame(each, found))) &&
      otherList.every((each) => oneList.some((found) => mayBeSame(each, found)))
    );
  }
  if (isObject(one) && isObject(other)) {
    const shared = Object.keys(one).filter(
      (name) => fieldNames.has(name) && Object.hasOwn(other, name),
    );
    return shared.every((name) => mayBeSame(one[name], other[name]));
  }
  const time = timeOf(one);
  return one === other || (time !== undefined && time === timeOf(other));
}

function areSamePairs(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return mayBeSame(one, other);
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && mayBeSame(one[name], other[name]))
  );
}

function violationIn(
  exchange: JudgedExchange,
  run: RunHistory,
  { artifact, at }: { readonly artifact: unknown; readonly at: string },
): Violation | undefined {
  const operation = exchange.contractOperation;
  const id = memberAt(artifact, ['id']);
  if (operation === undefined || typeof id !== 'string') return undefined;
  for (const name of ofTheFile) {
    const value = memberAt(artifact, [name]);
    if (value === undefined) continue;
    const isSame = pairs.includes(name) ? areSamePairs : mayBeSame;
    const earlierValue = run.earlierValue(`artifact ${id} ${name}`, value, isSame);
    if (earlierValue === undefined) continue;
    return {
      part: `200 body: ${at}/${name}`,
      expected: `be as in the earlier response, ${describeValue(earlierValue)}`,
      actual: describeValue(value),
      requirement: requirementOn(operation, ['body', name]),
    };
  }
  const modified = memberAt(artifact, ['modified']);
  const ms = timeOf(modified);
  const latest = ms === undefined ? undefined : run.latest(`artifact ${id}`, ms);
  // A difference of up to a day is tolerated: the server's clock may have been adjusted, and
  // concurrent responses may arrive out of order.
  if (ms === undefined || latest === undefined || ms > latest - MS_PER_DAY) return undefined;
  return {
    part: `200 body: ${at}/modified`,
    expected: `not be before ${new Date(latest).toISOString()}, as in an earlier response`,
    actual: describeValue(modified),
    requirement: 'artifacts.modified',
  };
}

function changedArtifact(
  exchange: JudgedExchange,
  { run }: ExchangeHistory,
): Violation | undefined {
  const body = exchange.responseJson;
  const artifacts = Array.isArray(body) ? [...body.entries()] : [['', body] as const];
  for (const [index, artifact] of artifacts) {
    const at = index === '' ? '' : `/${index}`;
    const violation = violationIn(exchange, run, { artifact, at });
    if (violation) return violation;
  }
  return undefined;
}

/**
 * Checks the artifact in deployment instructions. A deployed configuration is skipped, since it is
 * generated for one device and has no artifact ID.
 */
function changedInstruction(
  exchange: JudgedExchange,
  { run }: ExchangeHistory,
): Violation | undefined {
  const artifact = memberAt(exchange.responseJson, ['artifact']);
  const [id, uri] = [memberAt(artifact, ['id']), memberAt(artifact, ['source', 'uri'])];
  const isFileUri = typeof uri === 'string' && !uri.includes('/download/configuration/');
  const operation = exchange.contractOperation;
  if (typeof id !== 'string' || !isFileUri || operation === undefined) return undefined;
  for (const [said, name] of [
    ['artifact_name', 'name'],
    ['device_types_compatible', 'device_types_compatible'],
  ] as const) {
    const value = memberAt(artifact, [said]);
    if (value === undefined) continue;
    const earlierValue = run.earlierValue(`artifact ${id} ${name}`, value, mayBeSame);
    if (earlierValue === undefined) continue;
    return {
      part: `200 body: /artifact/${said}`,
      expected: `be as in the earlier response, ${describeValue(earlierValue)}`,
      actual: describeValue(value),
      requirement:
        said === 'artifact_name' ? 'next.names-the-artifact' : 'next.types-of-the-artifact',
    };
  }
  return undefined;
}

function isSuccessOf(ids: readonly string[]): PassiveCheck['applies'] {
  return ({ operation, status, hasBody }) =>
    status === 200 && hasBody && ids.includes(operation.id);
}

export const artifactChecks: readonly PassiveCheck[] = [
  {
    id: 'artifact-stays-the-same',
    applies: isSuccessOf(['get-artifact', 'list-artifacts']),
    violation: changedArtifact,
  },
  {
    id: 'instructed-artifact-stays',
    applies: isSuccessOf(instructing),
    violation: changedInstruction,
  },
];
