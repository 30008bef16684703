/** The secret that a coordinator and its workers share: who has it may give them work, and nobody else. */
import { exitCodes } from '../exit-codes.ts';
import { CommandFault } from '../fault.ts';
import { SecretOption, secretVariables } from '../secret-option.ts';

const VARIABLE = secretVariables.workerSecret;
/** No spaces and no line ends, which come into a variable unseen. */
const usable = /^[\x21-\x7e]{16,1024}$/;

/** The option that holds it. */
export function workerSecretOption(): SecretOption {
  return new SecretOption('--worker-secret <secret>', 'secret shared by coordinator and workers', {
    variable: VARIABLE,
    // Checked by workerSecret, which says how to make one.
    parse: (text) => text,
  });
}

/** The secret, if it can be used. @throws CommandFault when it is missing or too short */
export function workerSecret(given: string | undefined): string {
  if (given !== undefined && usable.test(given)) return given;
  const sentence =
    `--worker-secret (or ${VARIABLE}) must be at least 16 characters without spaces, the same ` +
    'for fleetbed simulate --shards and every fleetbed worker; make one with: openssl rand -hex 32';
  throw new CommandFault(sentence, exitCodes.usage);
}
