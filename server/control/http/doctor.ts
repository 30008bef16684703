/** The signature doctor, for bytes that a caller sends or for a request in the journal. */
import { operations } from '../../../fixtures/contract/operations.ts';
import type { VendorNames } from '../../../fixtures/contract/vendor-names.ts';
import type { DoctorFinding, SignedBody } from '../../explain/doctor/finding.ts';
import type { ExchangeRecord } from '../../http/exchange-record.ts';
import { maskText } from '../../http/masking.ts';
import { headerOf } from '../../journal/body-view.ts';
import { journalOf } from '../../journal/tenant-journal.ts';
import { readIdentity } from '../../rules/identity.ts';
import { keysOfFleet } from '../../tenants/fleet-keys.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import type { Handlers } from './mount.ts';
import { throwRefusal } from './refusals.ts';

/** Loads the doctor on first use, because its elliptic curve library takes long to load. */
const doctor = () => import('../../explain/doctor/finding.ts');

/** Creates the handler of the signature doctor. */
export function doctorHandlers(headerNames: VendorNames) {
  return {
    'POST /doctor/signature': ({ tenant, body: { sequence, body = '', signature = '', key } }) => {
      if (sequence !== undefined) return examineRecord(tenant, sequence, headerNames);
      return examineSignedBody(tenant, {
        body: Buffer.from(body, 'base64'),
        signature,
        keyText: key,
      });
    },
  } satisfies Partial<Handlers>;
}

async function examineSignedBody({ store }: Tenant, signed: SignedBody): Promise<DoctorFinding> {
  const { examine: examineSigned, memberText } = await doctor();
  const identity = readIdentity(memberText(signed.body, 'id_data') ?? '');
  const canonical = 'canonical' in identity ? identity.canonical : '';
  return examineSigned({ ...signed, otherKeys: keysOfFleet(store, canonical) });
}

/**
 * Returns the finding for an authentication request in the journal, and its refusal if it was
 * refused.
 */
async function examineRecord(tenant: Tenant, sequence: number, headerNames: VendorNames) {
  const record = journalOf(tenant).at(sequence);
  if (record?.kind !== 'exchange' || record.operation !== operations['post-auth-request'].id) {
    throwRefusal(
      404,
      'the journal has no authentication request with this sequence number, or has dropped it',
    );
  }
  const { refusal } = record;
  return {
    ...(await examineKept(tenant, record, headerNames)),
    ...(refusal && { refusal: { status: refusal.status, error: maskText(refusal.error) } }),
  };
}

function examineKept(
  tenant: Tenant,
  { headers, body, bodyBytes }: ExchangeRecord,
  headerNames: VendorNames,
): Promise<DoctorFinding> | DoctorFinding {
  if ((body?.length ?? 0) < bodyBytes) {
    throwRefusal(
      409,
      `the journal has only ${body?.length ?? 0} of the ${bodyBytes} bytes of the body; send the whole body instead`,
    );
  }
  const signature = headerOf(headers, headerNames.signature.toLowerCase());
  if (!body || signature === '') {
    const lacking = body ? `${headerNames.signature} header` : 'body';
    return { fits: false, about: 'signature', sentence: `The request has no ${lacking}.` };
  }
  return examineSignedBody(tenant, { body, signature });
}
