/**
 * Options with a secret value. A command line can be read by every user of the machine and stays in
 * the history of the shell, so each of them can be given in the environment instead.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import * as values from './option-values.ts';

/** Variables of the environment that hold secrets, by what they hold. */
export const secretVariables = {
  adminPassword: 'FLEETBED_ADMIN_PASSWORD',
  password: 'FLEETBED_PASSWORD',
  userToken: 'FLEETBED_TOKEN',
  controlToken: 'FLEETBED_CONTROL_TOKEN',
  tenantToken: 'FLEETBED_TENANT_TOKEN',
  /** A URL with the password of the Redis. */
  redis: 'FLEETBED_REDIS',
  workerSecret: 'FLEETBED_WORKER_SECRET',
} as const;

/** An option with a secret for its value; no refusal shows it. */
export class SecretOption extends Option {
  /** The command does nothing without it. */
  isNeeded = false;

  constructor(
    flags: string,
    meaning: string,
    {
      variable,
      parse = values.filled,
    }: { readonly variable: string; readonly parse?: (text: string) => unknown },
  ) {
    super(flags, meaning);
    this.env(variable).argParser((text: string) => {
      try {
        return parse(text);
      } catch (error) {
        if (!(error instanceof InvalidArgumentError)) throw error;
        // What the environment holds is wrong only where the command line has nothing else.
        return new RefusedValue(`the value of option ${this.named} is invalid. ${error.message}`);
      }
    });
  }

  /** Refuses the command without it, and names both ways to give it. */
  needed(): this {
    this.isNeeded = true;
    return this;
  }

  /** The option and its variable, for a sentence. */
  get named(): string {
    return `'${this.flags}' (env: ${this.envVar})`;
  }
}

/** Ends the command when an option that it needs is given neither way, or one is not accepted. */
export function requireSecrets(command: Command): void {
  for (const option of command.options) {
    if (!(option instanceof SecretOption)) continue;
    const value: unknown = command.getOptionValue(option.attributeName());
    if (value instanceof RefusedValue) command.error(`error: ${value.sentence}`);
    if (value === undefined && option.isNeeded) {
      command.error(`error: required option ${option.named} is not given`);
    }
  }
}

class RefusedValue {
  readonly sentence: string;

  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

/** A variable that is set to nothing counts as one that is not set, as CI systems leave them. */
export function dropEmptyVariables(environment: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(environment)) {
    if (name.startsWith('FLEETBED_') && value === '') delete environment[name];
  }
}
