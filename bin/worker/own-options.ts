/** What a worker brings along of its own: where the server is, its secrets, and every path. */
import { type Command, Option } from 'commander';
import { readBehaviourFiles } from '../../simulator/behaviours/behaviour-file.ts';
import type { OwnPlan } from '../../simulator/plan/divided-plan.ts';
import { fleetFault } from '../fleet-outcome.ts';
import { addLoginOptions, type LoginOptions } from '../login-options.ts';
import * as values from '../option-values.ts';
import { SecretOption, secretVariables } from '../secret-option.ts';
import { certificatesIn } from '../simulate/certificates.ts';
import { acceptWithOption, credentialsIn } from '../simulate/connection-options.ts';
import { defaultPoolFolder } from '../simulate/identity-options.ts';
import { addUrlOption } from '../url-option.ts';

/** The options as commander gives them. */
export interface OwnOptions extends LoginOptions {
  readonly url: string;
  readonly acceptWith?: values.Credentials;
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

/** Adds them; they mean what they mean for `fleetbed simulate`. */
export function addOwnOptions(command: Command): Command {
  return addLoginOptions(
    addUrlOption(command.optionsGroup('Connection:'), {
      description: 'base URL of the server; the worker joins runs against it only',
      usual: 'http://127.0.0.1:8080',
    }),
  )
    .addOption(acceptWithOption())
    .addOption(
      new SecretOption('--tenant-token <token>', 'tenant token sent by the devices', {
        variable: secretVariables.tenantToken,
      }),
    )
    .option('--ca <file>', 'PEM file with the certificate of the server or of its authority')
    .option('--cert <file>', "PEM file with the fleet's client certificate; needs --key")
    .addOption(
      new Option('--key <file>', 'PEM file with the private key of --cert').env('FLEETBED_KEY'),
    )
    .option(
      '--source-addresses <addresses>',
      'local addresses to connect from, in turn',
      values.addresses,
    )
    .optionsGroup('Fleet:')
    .option('--behaviour-file <file>', 'JavaScript file with behaviours; repeatable', values.listed)
    .option('--id-data-csv <file>', 'CSV file of id_data, one row per device', values.filled)
    .option('--key-folder <folder>', 'folder of PEM files with your own device keys', values.filled)
    .option('--state <folder>', 'folder to keep fleets in, for runs with --state', values.filled)
    .option('--ledger <file>', 'list what fleets create, for `fleetbed cleanup`', values.filled)
    .option(
      '--rsa-pool-folder <folder>',
      "folder of RSA keys (default: in the user's cache folder)",
      values.filled,
    );
}

/**
 * The plan of the options: files are read, and behaviours are known afterwards.
 * @throws CommandFault when one of them is of no use
 */
export async function ownPlan(options: OwnOptions): Promise<OwnPlan> {
  const { url: baseUrl, tenantToken, ca, cert, key, behaviourFile = [] } = options;
  const acceptWith = credentialsIn(options);
  const { idDataCsv, keyFolder, state, ledger, sourceAddresses } = options;
  const tls = await certificatesIn({ ca, cert, key: key || undefined });
  await readBehaviourFiles(behaviourFile).catch((error: unknown) => {
    throw fleetFault(error, { baseUrl });
  });
  return {
    baseUrl,
    rsaPoolFolder: options.rsaPoolFolder ?? defaultPoolFolder(),
    ...(acceptWith && { acceptWith }),
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
