/** The verdict of the client judge on one device, for tests. */
import type { ResponseOf } from '../../../fixtures/control/operations.ts';
import type { OpenServer } from '../../server.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import { clientView, unknownClient } from '../sources/clients.ts';

/** The verdict on one duty of a device: its state, and its violations with evidence. */
export type TestbedDuty = ResponseOf<'GET /clients/{device}'>['duties'][number];

/** Thrown if a device broke duties, or has sent nothing that could be judged. */
export class ClientViolationsError extends Error {
  override readonly name = 'ClientViolationsError';
  /** The broken duties; empty if the device has sent nothing. */
  readonly duties: readonly TestbedDuty[];

  constructor(sentence: string, duties: readonly TestbedDuty[]) {
    super(sentence);
    this.duties = duties;
  }
}

/** A device client as the server sees it. */
export interface TestbedClient {
  /**
   * Returns every duty of the device, by all that it has sent so far; empty if it has sent nothing.
   * @throws Error if the testbed judges no clients
   */
  duties(): Promise<readonly TestbedDuty[]>;
  /**
   * Checks that the device has sent something, and has broken no duty.
   * @param levels `must` ignores broken SHOULDs
   * @throws ClientViolationsError with each violation, its request and the remedy
   */
  expectNoViolations(levels?: { readonly level: 'must' | 'should' }): Promise<void>;
}

/** @param named ID or identity value of the device */
export function testbedClient(
  { clients: feed, services }: OpenServer,
  tenant: Tenant,
  named: string,
): TestbedClient {
  const duties = async (): Promise<readonly TestbedDuty[]> => {
    if (!feed) throw new Error('this testbed judges no clients: it has no judge, or no journal');
    const nowMs = services.clock.monotonicMs();
    return (await clientView(feed, tenant, { named, nowMs }))?.duties ?? [];
  };
  return {
    duties,
    expectNoViolations: async ({ level = 'should' } = { level: 'should' }) => {
      const all = await duties();
      if (all.length === 0) {
        const reason = unknownClient(tenant, named);
        throw new ClientViolationsError(`client ${named}: ${reason}`, []);
      }
      const isMeant = (duty: TestbedDuty): boolean => level === 'should' || duty.level === 'must';
      const brokenDuties = all.filter((duty) => duty.state === 'broken' && isMeant(duty));
      if (brokenDuties.length > 0)
        throw new ClientViolationsError(linesOf(named, brokenDuties), brokenDuties);
    },
  };
}

function linesOf(named: string, broken: readonly TestbedDuty[]): string {
  const lines = broken.flatMap(({ duty, level, violations, remedy }) => [
    `${duty} (${level})`,
    ...violations.map(({ message, request = 'no request' }) => `  ${message} (${request})`),
    `  remedy: ${remedy}`,
  ]);
  return [`client ${named} has broken duties:`, ...lines].join('\n');
}
