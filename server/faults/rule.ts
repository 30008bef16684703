/**
 * The shapes of a plan: which requests a rule matches, when and how often it acts, and what it
 * does.
 */
import * as v from 'valibot';
import { knownNames } from '../../fixtures/base/nearest.ts';
import { noSuchOperation, operationIds } from '../../fixtures/contract/operation-ids.ts';
import { timestamp, timestampMs } from '../../fixtures/contract/text.ts';
import { keyTypes, reportableStatuses } from '../../fixtures/contract/vocabulary.ts';
import { type Action, injectionPoints, textUpTo, whole } from './actions/action.ts';
import { actions, readyActions } from './actions/actions.ts';

export const RULES_MAX = 100;
const STEPS_MAX = 1000;
const COUNT_MAX = 1_000_000;
const TEXT_MAX_CHARACTERS = 1024;
const OPERATIONS_MAX = 200;
const ATTRIBUTES_MAX = 20;

/** An action with its fields. */
export interface ActionWithFields {
  readonly kind: string;
  readonly [field: string]: unknown;
}

const actionsByKind = new Map(actions.map((action) => [action.kind, action]));

/** Returns the row of an action. @throws Error for an unknown kind, which the shape excludes */
export function actionOf({ kind }: ActionWithFields): Action {
  const action = actionsByKind.get(kind);
  if (!action) throw new Error(`there is no action "${kind}"`);
  return action;
}

const operationShape = v.picklist(operationIds, ({ input }) => noSuchOperation(input));

const scalar = v.union(
  [textUpTo(TEXT_MAX_CHARACTERS), v.number(), v.boolean()],
  'must be a string, a number or a boolean',
);

const shareShape = v.pipe(
  v.number('must be a number from 0 to 1'),
  v.minValue(0, 'must be a number from 0 to 1'),
  v.maxValue(1, 'must be a number from 0 to 1'),
);
const seedShape = v.pipe(scalar, v.transform(String));

const matchShape = v.strictObject({
  operation: v.optional(
    v.union([
      operationShape,
      v.pipe(
        v.array(operationShape),
        v.nonEmpty('must not be empty'),
        v.maxLength(OPERATIONS_MAX, `must name at most ${OPERATIONS_MAX} operations`),
      ),
    ]),
  ),
  deviceId: v.optional(textUpTo(TEXT_MAX_CHARACTERS)),
  identity: v.optional(
    v.pipe(
      v.record(textUpTo(TEXT_MAX_CHARACTERS), scalar),
      v.maxEntries(ATTRIBUTES_MAX, `must name at most ${ATTRIBUTES_MAX} attributes`),
    ),
  ),
  keyType: v.optional(v.picklist(keyTypes, `must be one of ${keyTypes.join(', ')}`)),
  fleet: v.optional(v.strictObject({ share: shareShape, seed: seedShape })),
  nthCall: v.optional(whole(1, COUNT_MAX)),
  /** The status that the request reports for a deployment. */
  report: v.optional(
    v.picklist(reportableStatuses, `must be one of ${reportableStatuses.join(', ')}`),
  ),
});

const timesShape = v.union(
  [
    v.picklist(['once', 'until-cleared']),
    v.pipe(
      whole(1, COUNT_MAX),
      v.transform((next) => ({ next })),
    ),
    v.strictObject({ next: whole(1, COUNT_MAX) }),
    v.strictObject({
      share: shareShape,
      seed: seedShape,
      neverMoreThanInARow: whole(1, COUNT_MAX),
    }),
  ],
  'must be a number such as 3, once, until-cleared, an object with next, or an object with share, seed and neverMoreThanInARow',
);

/** Kinds of actions without required fields, which a plan can give by name only. */
const plainKinds = actions
  .filter(({ entries }) => Object.values(entries).every(({ type }) => type === 'optional'))
  .map(({ kind }) => kind);
const namedActions: Readonly<Record<string, ActionWithFields>> = {
  ...Object.fromEntries(plainKinds.map((kind) => [kind, { kind }])),
  ...readyActions,
};
const namedActionShape = v.picklist(Object.keys(namedActions), ({ input }) => noSuchName(input));

/** Returns a sentence about a name that no action has, or that needs fields. */
function noSuchName(value: unknown): string {
  const actionNames = Object.keys(namedActions);
  const isNamed = typeof value === 'string';
  const nearest = isNamed
    ? `; ${knownNames('name', value, [...actionNames, ...actionsByKind.keys()])}`
    : '';
  const isKind = isNamed && actionsByKind.has(value);
  return isKind
    ? `must be an object such as { kind: ${value}, … }, because the action has required fields`
    : `must be an action by its name, or an object with its kind and fields${nearest}`;
}

const ownActionShape: v.GenericSchema<unknown, ActionWithFields> = v.variant(
  'kind',
  actions.map(({ kind, does, entries }) =>
    v.pipe(v.strictObject({ kind: v.literal(kind), ...entries }), v.description(does)),
  ) as never,
);

/**
 * The shape of an action for reading. Problems are reported for the given form, either a name or an
 * object.
 */
const actionShape: v.GenericSchema<unknown, ActionWithFields> = v.lazy((value) =>
  typeof value === 'object' && value !== null
    ? ownActionShape
    : v.pipe(
        namedActionShape,
        v.transform((name) => v.parse(ownActionShape, namedActions[name])),
      ),
);

/** The shape of a step for reading. */
const stepShape: v.GenericSchema<unknown, ActionWithFields | 'pass'> = v.lazy((given) =>
  given === 'pass' ? v.literal('pass') : actionShape,
);

function ruleEntries(
  action: v.GenericSchema<unknown, ActionWithFields>,
  step: v.GenericSchema<unknown, ActionWithFields | 'pass'>,
) {
  return {
    id: v.optional(
      v.pipe(
        v.string('must be a string'),
        v.regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, dashes and underscores'),
      ),
    ),
    match: v.optional(matchShape, {}),
    when: v.optional(v.picklist(injectionPoints, `must be one of ${injectionPoints.join(', ')}`)),
    times: v.optional(timesShape),
    act: v.optional(action),
    script: v.optional(
      v.pipe(
        v.array(step),
        v.nonEmpty('must not be empty'),
        v.maxLength(STEPS_MAX, `must hold at most ${STEPS_MAX} steps`),
      ),
    ),
    from: v.optional(timestamp),
    until: v.optional(timestamp),
    countPer: v.optional(v.picklist(['tenant', 'device'], 'must be tenant or device'), 'tenant'),
    countBy: v.optional(
      v.picklist(['request', 'request-id'], 'must be request or request-id'),
      'request',
    ),
    unmarked: v.optional(v.boolean('must be true or false'), false),
  };
}

function planEntries<const FaultRule extends v.GenericSchema>(rule: FaultRule) {
  return {
    rules: v.pipe(
      v.array(rule, 'must be a list of rules'),
      v.nonEmpty('must not be empty'),
      v.maxLength(RULES_MAX, `must hold at most ${RULES_MAX} rules`),
    ),
  };
}

const ruleShape = v.pipe(
  v.strictObject(ruleEntries(actionShape, stepShape)),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const rule = dataset.value;
    const problem = problemOf(rule);
    if (!problem) return;
    const { key, message } = problem;
    const item = {
      type: 'object',
      origin: 'value',
      input: { ...rule },
      key,
      value: undefined,
    } as const;
    addIssue({ message, path: [item] });
  }),
);

/** The shape of a plan for reading. */
export const planShape = v.strictObject(planEntries(ruleShape));

const documentedActionShape = v.union([namedActionShape, ownActionShape]) as never;

/**
 * The shape of a plan for its JSON Schema. A JSON Schema cannot choose a form by the type of the
 * given value, so it has unions.
 */
export const documentedPlanShape = v.strictObject(
  planEntries(
    v.strictObject(
      ruleEntries(documentedActionShape, v.union([v.literal('pass'), documentedActionShape])),
    ),
  ),
);

/** A rule with its defaults filled in, and its ID if it has none of its own. */
export type FaultRule = v.InferOutput<typeof ruleShape> & { readonly id: string };
export type Times = NonNullable<FaultRule['times']>;

/** Returns the first contradiction between fields of a rule, if any. */
function problemOf(
  rule: v.InferOutput<v.ObjectSchema<ReturnType<typeof ruleEntries>, undefined>>,
): { key: string; message: string } | undefined {
  const { act: action, script, when, times, from, until } = rule;
  if (from !== undefined && until !== undefined && timestampMs(until) <= timestampMs(from)) {
    return { key: 'until', message: 'must be later than from' };
  }
  if ((action === undefined) === (script === undefined)) {
    return { key: action ? 'script' : 'act', message: 'must have either act or script' };
  }
  if (script && times !== undefined) {
    return { key: 'times', message: 'a script fires once for each of its steps; remove times' };
  }
  if (when === undefined) return undefined;
  const all = [...(action ? [action] : []), ...(script ?? []).filter((step) => step !== 'pass')];
  const unfit = all.find((one) => !actionOf(one).injectionPoints.includes(when));
  if (!unfit) return undefined;
  const fitting = actionOf(unfit).injectionPoints.join(' or ');
  return { key: 'when', message: `the action ${unfit.kind} supports only ${fitting}` };
}
