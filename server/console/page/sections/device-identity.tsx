/**
 * Shows the identity and the authentication sets of a device, with buttons that accept or reject
 * each set.
 */
import type { AuthSet, Device } from '../../../../fixtures/contract/management/devices.ts';
import { Card } from '../../../../fixtures/page/card.tsx';
import { CopyButton } from '../../../../fixtures/page/copy-button.tsx';
import { callManagement } from '../api/management.ts';
import { ActionButton } from '../parts/action.tsx';
import { Facts } from '../parts/facts.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { dayAndTime, valueText } from '../parts/texts.ts';
import { decideSet } from './decisions.ts';

export function DeviceIdentity({ device, reload }: { device: Device; reload: () => void }) {
  const { id, identity_data: identity, created_ts, updated_ts, check_in_time, auth_sets } = device;
  return (
    <div class="two-columns">
      <Card title="Identity" aside={<CopyButton label="Copy ID" text={id} />}>
        <Facts
          facts={[
            ['ID', <code>{id}</code>],
            ...Object.entries(identity).map(([name, value]) => [name, valueText(value)] as const),
            ['First contact', dayAndTime(created_ts)],
            ['Changed', dayAndTime(updated_ts)],
            ['Last seen', dayAndTime(check_in_time)],
          ]}
        />
      </Card>
      <Card title={`Authentication sets (${auth_sets.length})`}>
        <ul class="plain-list">
          {auth_sets.map((set) => (
            <li key={set.id}>
              <SetView deviceId={id} set={set} reload={reload} />
            </li>
          ))}
        </ul>
      </Card>
    </div>
  );
}

interface SetProps {
  readonly deviceId: string;
  readonly set: AuthSet;
  readonly reload: () => void;
}

function SetView({ deviceId, set, reload }: SetProps) {
  return (
    <div class="auth-set">
      <p>
        <StatusBadge status={set.status} /> since {dayAndTime(set.ts)}
      </p>
      <details>
        <summary>Public key</summary>
        <pre>{set.pubkey}</pre>
      </details>
      <Decisions deviceId={deviceId} set={set} reload={reload} />
    </div>
  );
}

function Decisions({ deviceId, set, reload }: SetProps) {
  const thenReload = (work: () => Promise<unknown>) => async (): Promise<void> => {
    await work();
    reload();
  };
  const remove = () =>
    callManagement('delete-auth-set', { parameters: { id: deviceId, aid: set.id } });
  const revoke = () => callManagement('revoke-token', { parameters: { jti: set.id } });
  return (
    <div class="actions">
      {set.status !== 'accepted' && (
        <ActionButton
          kind="main"
          work={thenReload(() => decideSet(deviceId, set.id, 'accepted'))}
          done="The set was accepted."
        >
          Accept
        </ActionButton>
      )}
      {set.status !== 'rejected' && (
        <ActionButton
          kind="danger"
          work={thenReload(() => decideSet(deviceId, set.id, 'rejected'))}
          done="The set was rejected."
          asks={{
            title: 'Reject this set?',
            text: 'Its tokens become invalid, and it gets no new ones until it is accepted.',
            action: 'Reject',
          }}
        >
          Reject
        </ActionButton>
      )}
      {set.status === 'accepted' && (
        <ActionButton work={thenReload(revoke)} done="Its tokens were revoked.">
          Revoke tokens
        </ActionButton>
      )}
      <ActionButton
        kind="danger"
        work={thenReload(remove)}
        done="The set was removed."
        asks={{
          title: 'Remove this set?',
          text: 'The device stays; this key is deleted.',
          action: 'Remove',
        }}
      >
        Remove
      </ActionButton>
    </div>
  );
}
