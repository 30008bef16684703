/**
 * Calls hooks. Standard input is one JSON object: `step`, `baseUrl`, `tenant` (the ID that
 * `make-tenant` gave, or null) and `input`. Standard output is one JSON object, the response of the
 * step. Exit code 0 means done; 3 means that the hook cannot do this step here, which skips the
 * case; any other code means failure, which leaves the case inconclusive. Secrets are passed over
 * standard input and output or the environment, never on the command line.
 */
import * as v from 'valibot';
import { AdminFailure } from '../../context/target-admin.ts';
import { describeValue } from '../../target/expectations.ts';
import type { TargetClient } from '../../target/target.ts';
import { MissingCapability } from '../missing-capability.ts';
import type { HookFile } from './hook-file.ts';
import { HookEnded, type HookOutcome, runHook } from './hook-process.ts';
import { type HookStep, hookSteps, type StepResponse } from './hook-steps.ts';

const exitCodes = { done: 0, notHere: 3 } as const;

/** The hooks of a target, or of one tenant of it. */
export class Hooks {
  readonly #book: HookFile;
  readonly #baseUrl: string;
  readonly #tenant: string | undefined;

  constructor(book: HookFile, baseUrl: string, tenant?: string) {
    this.#book = book;
    this.#baseUrl = baseUrl;
    this.#tenant = tenant;
  }

  /** Returns true when a command is given for the step. */
  has(step: HookStep): boolean {
    return this.#book.commands.has(step);
  }

  /** Returns the hooks for a tenant. */
  within(tenant: string): Hooks {
    return new Hooks(this.#book, this.#baseUrl, tenant);
  }

  /** The ID of the tenant of these hooks. */
  get tenant(): string | undefined {
    return this.#tenant;
  }

  /**
   * Runs the hook of a step and returns its response; the run is recorded by the client.
   * @throws MissingCapability, AdminFailure
   */
  async run<Step extends HookStep>(
    client: TargetClient,
    step: Step,
    input: object = {},
  ): Promise<StepResponse<Step>> {
    const { commands, folder, timeLimitMs } = this.#book;
    const command = commands.get(step);
    if (!command) throw missing(step, 'no hook is given for this step');
    const tenant = this.#tenant ?? null;
    const text = JSON.stringify({ step, baseUrl: this.#baseUrl, tenant, input });
    const action = { method: 'HOOK', url: step, body: text, timeLimitMs };
    return client.recordAction(action, async (signal) => {
      try {
        const outcome = await runHook({ command, folder, input: `${text}\n`, signal });
        return { response: hookResponse(outcome), result: responseOf(step, outcome) };
      } catch (error) {
        throw error instanceof HookEnded ? hookFailure(step, error.message) : error;
      }
    });
  }
}

function responseOf<Step extends HookStep>(step: Step, outcome: HookOutcome): StepResponse<Step> {
  const { code, output, stderr } = outcome;
  if (code === exitCodes.notHere) throw missing(step, stderr || 'the hook ended with exit code 3');
  if (code !== exitCodes.done)
    throw hookFailure(step, `exit code ${code}: ${stderr || 'no message'}`);
  const text = output.trim() === '' ? '{}' : output;
  const shape: v.GenericSchema = hookSteps[step].shape;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), shape), text);
  if (parsed.success) return parsed.output as StepResponse<Step>;
  const location = v.getDotPath(parsed.issues[0]);
  const why = `${location === null ? '' : `${location}: `}${parsed.issues[0].message}`;
  throw hookFailure(step, `${describeValue(output)} (${why})`);
}

function hookResponse({ code, output, stderr }: HookOutcome) {
  const headers: Record<string, string> = stderr === '' ? {} : { 'standard-error': stderr };
  return { status: code, headers, bytes: Buffer.from(output), text: output };
}

function missing(step: HookStep, reason: string): MissingCapability {
  return new MissingCapability(`user/${step}`, `the step ${step} is not possible: ${reason}`);
}

function hookFailure(step: HookStep, response: string): AdminFailure {
  return new AdminFailure(hookSteps[step].title, response, `the hook ${step}`);
}
