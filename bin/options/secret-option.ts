/**
 * Options with a secret value. Every user of the machine can read a command line, and shells keep it
 * in their history, so each secret can be given in the environment instead.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import * as values from './option-values.ts';

/** The environment variables of secrets, by the kind of secret. */
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

/** An option with a secret value, which no refusal shows. */
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
        // A wrong value in the environment matters only if the command line gives none.
        return new RefusedValue(`the value of option ${this.named} is invalid. ${error.message}`);
      }
    });
  }

  /** Makes the option required; a refusal names both ways to give it. */
  needed(): this {
    this.isNeeded = true;
    return this;
  }

  /** The option and its variable, for a sentence. */
  get named(): string {
    return `'${this.flags}' (env: ${this.envVar})`;
  }
}

/** Ends the command when a required option is given neither way, or a value is invalid. */
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

/** Treats empty variables, as CI systems leave them, as unset. */
export function dropEmptyVariables(environment: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(environment)) {
    if (name.startsWith('FLEETBED_') && value === '') delete environment[name];
  }
}
