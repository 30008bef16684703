/**
 * Loads user-written behaviours from a JavaScript module. Node 22.18 and newer also loads a
 * TypeScript module. The default export is one behaviour or an array of them. The module runs
 * without a sandbox, so users must name only files that they trust. An error thrown by a hook ends
 * the run with a message of one sentence.
 */
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import { plainFile } from '../../fixtures/base/plain-file.ts';
import { printable } from '../../fixtures/base/printable.ts';
import { ClientError, FleetStopped, PowerLoss } from '../network/errors.ts';
import { type Behaviour, type BehaviourHooks, UpdateFailure } from './behaviour.ts';
import { addBehaviours } from './catalogue.ts';
import { parameterProblem } from './parameters.ts';

/**
 * Thrown when a behaviour file cannot be used or one of its hooks throws. The message names the
 * file and, for a hook, the hook.
 */
export class BehaviourFileError extends Error {
  override readonly name = 'BehaviourFileError';
}

/** True when the running Node executes TypeScript natively (22.18 and newer). */
export const nodeReadsTypeScript: boolean =
  'typescript' in process.features && Boolean(process.features.typescript);

const BEHAVIOURS_MAX = 100;
const MESSAGE_MAX_CHARACTERS = 300;
const javaScript = ['.js', '.mjs'];
const typeScript = ['.ts', '.mts'];

/**
 * Reads the files in order and adds their behaviours to the catalogue.
 * @throws BehaviourFileError
 */
export async function readBehaviourFiles(paths: readonly string[]): Promise<void> {
  for (const path of paths) await readBehaviourFile(path);
}

/**
 * Reads one file and adds its behaviours to the catalogue. A file that was read before is not read
 * again.
 * @param readsTypeScript true when this Node runs TypeScript natively
 * @throws BehaviourFileError
 */
export async function readBehaviourFile(
  path: string,
  readsTypeScript = nodeReadsTypeScript,
): Promise<readonly Behaviour[]> {
  const cachedBehaviours = filesRead.get(resolve(path));
  if (cachedBehaviours) return cachedBehaviours;
  refuseLanguage(path, readsTypeScript);
  const defaultExport = await defaultExportOf(path);
  const list: readonly unknown[] = Array.isArray(defaultExport) ? defaultExport : [defaultExport];
  if (list.length > BEHAVIOURS_MAX)
    throw fileError(path, `holds more than ${BEHAVIOURS_MAX} of them`);
  const rows = list.map((row) => checkBehaviour(row, sourceOf(path)));
  const takenNames = addBehaviours(rows);
  if (takenNames.length > 0)
    throw fileError(path, `another behaviour is already called ${takenNames.join(', ')}`);
  filesRead.set(resolve(path), rows);
  return rows;
}

/**
 * Adds behaviours that were written in code to the catalogue. One that was added before is not
 * added again.
 * @throws BehaviourFileError
 */
export function addOwnBehaviours(behaviours: readonly Behaviour[]): void {
  const source = 'the behaviours of the run';
  const rows = behaviours.map((behaviour) => {
    const row = rowsOfCode.get(behaviour) ?? checkBehaviour(behaviour, source);
    rowsOfCode.set(behaviour, row);
    return row;
  });
  const takenNames = addBehaviours(rows);
  if (takenNames.length > 0)
    throw sourceError(source, `another behaviour is already called ${takenNames.join(', ')}`);
}

const filesRead = new Map<string, readonly Behaviour[]>();
const rowsOfCode = new WeakMap<Behaviour, Behaviour>();

const sourceOf = (path: string): string => `the behaviour file ${path}`;

function fileError(path: string, problem: string): BehaviourFileError {
  return sourceError(sourceOf(path), problem);
}

function sourceError(source: string, problem: string): BehaviourFileError {
  return new BehaviourFileError(`${source}: ${printable(problem, MESSAGE_MAX_CHARACTERS)}`);
}

function refuseLanguage(path: string, readsTypeScript: boolean): void {
  const ending = extname(path).toLowerCase();
  if (javaScript.includes(ending)) return;
  const endings = [...javaScript, ...typeScript].join(', ');
  if (!typeScript.includes(ending)) throw fileError(path, `its name must end in one of ${endings}`);
  if (readsTypeScript) return;
  const remedy = 'use Node 22.18 or newer, or JavaScript with JSDoc types (.js, .mjs)';
  throw fileError(path, `Node ${process.versions.node} does not read TypeScript; ${remedy}`);
}

async function defaultExportOf(path: string): Promise<unknown> {
  try {
    const module: unknown = await import(pathToFileURL(resolve(plainFile(path))).href);
    return v.parse(moduleShape, module).default;
  } catch (error) {
    if (v.isValiError(error)) {
      throw fileError(path, 'has no default export; write "export default" before the behaviour');
    }
    throw fileError(path, `cannot be read: ${firstLine(error)}`);
  }
}

function firstLine(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line;
}

const moduleShape = v.looseObject({ default: v.nonOptional(v.unknown()) });
const sentence = v.pipe(v.string('must be a sentence'), v.trim(), v.nonEmpty('must not be empty'));
const hookNames = [
  'installedAtStart',
  'network',
  'clockSkewMs',
  'renewsToken',
  'socketHoldsMs',
  'offForMs',
  'nextCycleMs',
  'waitAfterErrorMs',
  'eachCycle',
  'whenOffered',
  'whileDownloading',
  'whileInstalling',
  'afterReboot',
  'whileCommitting',
  'stopsWhenAborted',
] as const satisfies readonly (keyof BehaviourHooks)[];

type AnyFunction = (...given: unknown[]) => unknown;
const hook = v.optional(
  v.custom<AnyFunction>((value) => typeof value === 'function', 'must be a function'),
);

const rowShape = v.strictObject(
  {
    name: v.pipe(
      v.string('must be a string'),
      v.regex(
        /^[a-z0-9]+(-[a-z0-9]+)*$/,
        'must be lower-case letters and digits, joined by dashes',
      ),
      v.maxCodePoints(64, 'must have at most 64 characters'),
    ),
    description: sentence,
    expectedServerBehaviour: sentence,
    parameters: v.looseObject(
      {
        installMs: v.number('must be a number of milliseconds'),
        rebootMs: v.number('must be a number of milliseconds'),
      },
      'must be an object',
    ),
    hooks: v.strictObject(
      v.entriesFromList(hookNames, hook),
      'must be an object whose values are functions',
    ),
  },
  'must be a behaviour: name, description, expectedServerBehaviour, parameters and hooks',
);

function checkBehaviour(row: unknown, source: string): Behaviour {
  const parsing = v.safeParse(rowShape, row);
  if (!parsing.success) throw sourceError(source, issueSentence(parsing.issues[0]));
  for (const [name, value] of Object.entries(parsing.output.parameters)) {
    const wrong = parameterProblem(name, value);
    if (wrong !== undefined) throw sourceError(source, `parameters.${name} ${wrong}`);
  }
  const { parameters } = parsing.output;
  const hooks = guardHooks(parsing.output.hooks, `${source}: ${parsing.output.name}`);
  return { ...parsing.output, parameters, hooks };
}

function issueSentence(issue: v.BaseIssue<unknown>): string {
  const location = v.getDotPath(issue) ?? 'the default export';
  if (issue.expected === 'never') return `${location} is not known`;
  if (issue.received === 'undefined') return `${location} is missing`;
  return `${location} ${issue.message}`;
}

const numericHooks: readonly string[] = [
  'clockSkewMs',
  'socketHoldsMs',
  'offForMs',
  'nextCycleMs',
  'waitAfterErrorMs',
];

/** Wraps the hooks so that an unexpected error becomes a BehaviourFileError that names the hook. */
function guardHooks(hooks: Partial<Record<string, AnyFunction>>, where: string): BehaviourHooks {
  const entries = Object.entries(hooks).map(([name, hook]) => {
    const rethrow = (error: unknown): never => {
      if (isExpectedError(error)) throw error;
      const message = printable(firstLine(error), MESSAGE_MAX_CHARACTERS);
      throw new BehaviourFileError(`${where}.hooks.${name} threw: ${message}`);
    };
    return [name, (...given: unknown[]) => run(hook, given, { name, rethrow })];
  });
  return Object.fromEntries(entries);
}

interface Guard {
  readonly name: string;
  readonly rethrow: (error: unknown) => never;
}

function run(
  hook: AnyFunction | undefined,
  hookArguments: unknown[],
  { name, rethrow }: Guard,
): unknown {
  try {
    const response = hook?.(...hookArguments);
    if (numericHooks.includes(name) && !Number.isFinite(response)) {
      throw new TypeError(`it must return a number, not ${String(response)}`);
    }
    return response instanceof Promise ? response.catch(rethrow) : response;
  } catch (error) {
    return rethrow(error);
  }
}

function isExpectedError(error: unknown): boolean {
  return (
    error instanceof UpdateFailure ||
    error instanceof PowerLoss ||
    error instanceof ClientError ||
    error instanceof FleetStopped
  );
}
