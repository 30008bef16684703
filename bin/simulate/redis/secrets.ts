/**
 * The secrets of a plan never enter Redis: a worker has them from its own environment. Redis is
 * told only which of them a worker needs.
 */
import type { FleetPlan } from '../../../simulator/simulator.ts';
import { exitCodes } from '../../exit-codes.ts';
import { CommandFault } from '../../fault.ts';
import { type Credentials, credentials } from '../../option-values.ts';
import { privateKeyPemIn } from '../certificates.ts';

/** Which secrets a worker needs to take part. */
export interface NeededSecrets {
  /** The operator whose password it needs. */
  readonly operator?: string;
  readonly tenantToken?: true;
  /** The key of the fleet's own certificate. */
  readonly key?: true;
}

/** A plan that may be read by anybody, and what is missing in it. */
export interface OpenPlan {
  readonly plan: FleetPlan;
  readonly needs: NeededSecrets;
}

/** The secrets that a worker has. */
export interface OwnSecrets {
  readonly operator?: Credentials;
  readonly tenantToken?: string;
  readonly keyPem?: string;
}

const OPERATOR = 'FLEETBED_ACCEPT_WITH';
const TENANT_TOKEN = 'FLEETBED_TENANT_TOKEN';
const KEY = 'FLEETBED_KEY';

/** The plan without its secrets. */
export function openPlan({ acceptWith, tenantToken, tls, ...plan }: FleetPlan): OpenPlan {
  const { keyPem, ...openTls } = tls ?? {};
  return {
    plan: { ...plan, ...(tls !== undefined && { tls: openTls }) },
    needs: {
      ...(acceptWith !== undefined && { operator: acceptWith.email }),
      ...(tenantToken !== undefined && { tenantToken: true }),
      ...(keyPem !== undefined && { key: true }),
    },
  };
}

/** The whole plan, from the open one and the worker's own secrets, which lack nothing. */
export function wholePlan({ plan, needs }: OpenPlan, own: OwnSecrets): FleetPlan {
  const { operator, tenantToken, keyPem } = own;
  return {
    ...plan,
    ...(needs.operator !== undefined && operator && { acceptWith: operator }),
    ...(needs.tenantToken && tenantToken !== undefined && { tenantToken }),
    ...(needs.key && keyPem !== undefined && { tls: { ...plan.tls, keyPem } }),
  };
}

/** What a worker lacks of the needed secrets, as a clause with the way out; or nothing. */
export function missingSecret(needs: NeededSecrets, own: OwnSecrets): string | undefined {
  const { operator } = needs;
  if (operator !== undefined && own.operator?.email !== operator) {
    return `it does not know the password of ${operator}: start it with ${OPERATOR}=${operator}:PASSWORD in its environment`;
  }
  if (needs.tenantToken && own.tenantToken === undefined) {
    return `it does not know the tenant token: start it with ${TENANT_TOKEN}=TOKEN in its environment`;
  }
  if (needs.key && own.keyPem === undefined) {
    return `it has not the key of the fleet's certificate: start it with ${KEY}=FILE in its environment`;
  }
  return undefined;
}

/** The secrets in the environment. @throws CommandFault when one cannot be used */
export async function ownSecrets(
  variables: Readonly<Record<string, string | undefined>>,
): Promise<OwnSecrets> {
  const { [OPERATOR]: operator, [TENANT_TOKEN]: tenantToken, [KEY]: keyFile } = variables;
  return {
    ...(operator && { operator: operatorIn(operator) }),
    ...(tenantToken && { tenantToken }),
    ...(keyFile && { keyPem: await privateKeyPemIn(KEY, keyFile) }),
  };
}

function operatorIn(text: string): Credentials {
  try {
    return credentials(text);
  } catch (error) {
    const sentence = `${OPERATOR} in the environment must be EMAIL:PASSWORD, such as admin@example.com:secret`;
    throw new CommandFault(sentence, exitCodes.usage, error);
  }
}
