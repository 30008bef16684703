/** What a worker brings along of its own: where the server is, its secrets, and every path. */
import { type Command, Option } from 'commander';
import { readBehaviourFiles } from '../../simulator/behaviours/behaviour-file.ts';
import { exitCodes } from '../exit-codes.ts';
import { CommandFault } from '../fault.ts';
import { fleetFault } from '../fleet-outcome.ts';
import * as values from '../option-values.ts';
import { SecretOption, secretVariables } from '../secret-option.ts';
import { certificatesIn } from '../simulate/certificates.ts';
import { defaultPoolFolder } from '../simulate/identity-options.ts';
import type { OwnPlan } from '../simulate/redis/divided-plan.ts';

/** The options as commander gives them. */
export interface OwnOptions {
  readonly baseUrl: string;
  readonly acceptWith?: string;
  readonly tenantToken?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly sourceAddresses?: readonly string[];
  readonly behaviourFile?: readonly string[];
  readonly idDataCsv?: string;
  readonly keyFolder?: string;
  readonly state?: string;
  readonly ledger?: string;
  readonly rsaPoolFolder?: string;
}

const OPERATOR = secretVariables.acceptWith;

/** Adds them; they mean what they mean for `fleetbed simulate`. */
export function addOwnOptions(command: Command): void {
  command
    .addOption(
      new Option('--base-url <url>', 'the server whose runs it takes part in')
        .argParser(values.baseUrl)
        .default('http://127.0.0.1:8080'),
    )
    .addOption(
      new SecretOption('--accept-with <email:password>', 'the operator', {
        variable: OPERATOR,
        // Checked by ownPlan.
        parse: (text) => text,
      }),
    )
    .addOption(
      new SecretOption('--tenant-token <token>', 'sent with every authentication request', {
        variable: secretVariables.tenantToken,
      }),
    )
    .option('--ca <file>', "PEM file with the server's certificate or its authority's")
    .option('--cert <file>', "PEM file with the fleet's own certificate; with --key")
    .addOption(new Option('--key <file>', 'PEM file with the key of --cert').env('FLEETBED_KEY'))
    .option(
      '--source-addresses <addresses>',
      'own addresses to connect from, in turn',
      values.addresses,
    )
    .option('--behaviour-file <file>', 'JavaScript with behaviours; repeatable', values.listed)
    .option('--id-data-csv <file>', 'id_data from a file, one row a device', values.filled)
    .option('--key-folder <folder>', 'own keys, as PEM files, in place of others', values.filled)
    .option('--state <folder>', 'where fleets are kept that are to be', values.filled)
    .option('--ledger <file>', 'list there what fleets make, for cleanup', values.filled)
    .option(
      '--rsa-pool-folder <folder>',
      "where RSA keys are kept (default: in the user's cache folder)",
      values.filled,
    );
}

/**
 * What the options come to: files are read, and behaviours are known afterwards.
 * @throws CommandFault when one of them is of no use
 */
export async function ownPlan(options: OwnOptions): Promise<OwnPlan> {
  const { baseUrl, acceptWith, tenantToken, ca, cert, key, behaviourFile = [] } = options;
  const { idDataCsv, keyFolder, state, ledger, sourceAddresses } = options;
  const tls = await certificatesIn({ ca, cert, key: key || undefined });
  await readBehaviourFiles(behaviourFile).catch((error: unknown) => {
    throw fleetFault(error, { baseUrl });
  });
  return {
    baseUrl,
    rsaPoolFolder: options.rsaPoolFolder ?? defaultPoolFolder(),
    ...(acceptWith && { acceptWith: operatorIn(acceptWith) }),
    ...(tenantToken && { tenantToken }),
    ...(tls && { tls }),
    ...(behaviourFile.length > 0 && { behaviourFiles: [...behaviourFile] }),
    ...(sourceAddresses && { sourceAddresses: [...sourceAddresses] }),
    ...(idDataCsv !== undefined && { idDataFile: idDataCsv }),
    ...(keyFolder !== undefined && { keyFolder }),
    ...(state !== undefined && { state }),
    ...(ledger !== undefined && { ledger }),
  };
}

function operatorIn(text: string): values.Credentials {
  try {
    return values.credentials(text);
  } catch (error) {
    const sentence = `--accept-with (or ${OPERATOR}) must be EMAIL:PASSWORD, such as admin@example.com:secret`;
    throw new CommandFault(sentence, exitCodes.usage, error);
  }
}
