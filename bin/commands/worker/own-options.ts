/** The options that each worker sets for itself: the server, its secrets, and every path. */
import type { Command } from 'commander';
import type { OptionRows, ValuesOf } from '../../../fixtures/base/option-row.ts';
import { readBehaviourFiles } from '../../../simulator/behaviours/behaviour-file.ts';
import type { OwnPlan } from '../../../simulator/plan/divided-plan.ts';
import { options } from '../../../simulator/plan/options.ts';
import { addLoginOptions, type LoginOptions, userOf } from '../../options/login-options.ts';
import { addOptionRows } from '../../options/option-rows.ts';
import { addUrlOption } from '../../options/url-option.ts';
import { fleetError } from '../../output/fleet-outcome.ts';
import { certificatesIn } from '../simulate/certificates.ts';
import { defaultPoolFolder } from '../simulate/rsa-keys.ts';

const group = 'Fleet';

/** Rows of `fleetbed simulate`, with help texts for a worker. */
const ownRows = {
  tenantToken: options.tenantToken,
  ca: options.ca,
  cert: options.cert,
  key: { ...options.key, variable: 'FLEETBED_KEY' },
  sourceAddresses: options.sourceAddresses,
  behaviourFile: {
    ...options.behaviourFile,
    group,
    help: 'JavaScript file with behaviours; repeatable',
  },
  idDataCsv: { ...options.idDataCsv, group },
  keyFolder: { ...options.keyFolder, group },
  state: { ...options.state, group, help: 'folder for the state of fleets, for runs with --state' },
  ledger: {
    ...options.ledger,
    group,
    help: 'file that lists what fleets create, for `fleetbed cleanup`',
  },
  rsaPoolFolder: { ...options.rsaPoolFolder, group },
} as const satisfies OptionRows;

/** The options as commander parses them. */
export type OwnOptions = LoginOptions &
  ValuesOf<typeof ownRows> & {
    readonly url: string;
  };

/** Adds the options; they have the same meaning as for `fleetbed simulate`. */
export function addOwnOptions(command: Command): Command {
  const withLogin = addLoginOptions(
    addUrlOption(command.optionsGroup('Connection:'), {
      description: 'base URL of the server; the worker joins only runs against it',
      defaultUrl: options.url.default.value,
    }),
  );
  return addOptionRows(withLogin, ownRows);
}

/**
 * Builds the worker's part of the plan from the options: reads the files, and registers the
 * behaviours.
 * @throws CommandError when a file or a behaviour cannot be used
 */
export async function ownPlan(options: OwnOptions): Promise<OwnPlan> {
  const { ca, cert, key, email: _, password: __, token: ___, ...args } = options;
  const tls = await certificatesIn({ ca, cert, key: key || undefined });
  await readBehaviourFiles(args.behaviourFile ?? []).catch((error: unknown) => {
    throw fleetError(error, { baseUrl: args.url });
  });
  const rsaPoolFolder = args.rsaPoolFolder ?? defaultPoolFolder();
  return { ...args, rsaPoolFolder, tls, acceptWith: userOf(options) };
}
