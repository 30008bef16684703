/** The form for a new deployment. */
import { useState } from 'preact/hooks';
import type { Release } from '../../../../fixtures/contract/management/releases.ts';
import { goTo, useQuery } from '../address.ts';
import { useLoaded } from '../api/loaded.ts';
import { callManagement, manageAll } from '../api/management.ts';
import { ActionButton } from '../parts/action.tsx';

/**
 * Renders a form that deploys a release to all accepted devices, to some of them, or to a group.
 */
export function NewDeployment() {
  const [artifact] = useQuery('artifact');
  const [draft, setDraft] = useState({
    name: '',
    artifact,
    devices: '',
    group: '',
    retries: '0',
    more: '',
  });
  const releases = useLoaded(() => manageAll<Release>('list-releases'), 'releases', {
    isLive: true,
    pauseTicks: 5,
  });
  const setField = (name: keyof typeof draft) => (event: { currentTarget: { value: string } }) =>
    setDraft({ ...draft, [name]: event.currentTarget.value });
  const field = (name: keyof typeof draft, label: string) => (
    <label class="kit-field">
      {label}
      <input value={draft[name]} spellcheck={false} onInput={setField(name)} />
    </label>
  );
  const create = async (): Promise<void> => {
    const response = await sendDeployment(draft);
    const id = response.headers.get('Location')?.split('/').at(-1);
    if (id) goTo(`/deployments/${id}`);
  };
  return (
    <details class="kit-card" open={artifact !== ''}>
      <summary>New deployment</summary>
      <div class="filters">
        <label class="kit-field">
          Release
          <input
            value={draft.artifact}
            list="known-releases"
            spellcheck={false}
            onInput={setField('artifact')}
          />
        </label>
        <datalist id="known-releases">
          {releases.data?.map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        {field('name', 'Name (empty: the release)')}
        {field('devices', 'Device IDs (empty: all accepted)')}
        {field('group', 'or a group')}
        {field('retries', 'Retries')}
      </div>
      <label class="kit-field">
        More fields as JSON: phases, max_devices, update_control_map
        <textarea
          rows={2}
          value={draft.more}
          spellcheck={false}
          placeholder='{ "phases": [{ "batch_size": 10 }, { "start_ts": "2030-01-01T00:00:00Z" }] }'
          onInput={setField('more')}
        />
      </label>
      <div class="actions">
        <ActionButton
          kind="main"
          work={create}
          done="The deployment was created."
          isDisabled={draft.artifact === ''}
        >
          Deploy
        </ActionButton>
      </div>
    </details>
  );
}

function sendDeployment(
  draft: Readonly<Record<'name' | 'artifact' | 'devices' | 'group' | 'retries' | 'more', string>>,
) {
  const devices = draft.devices.split(/[\s,]+/).filter((id) => id !== '');
  const json = {
    name: draft.name || draft.artifact,
    artifact_name: draft.artifact,
    retries: Number(draft.retries) || 0,
    ...moreFields(draft.more),
  };
  if (draft.group !== '') {
    return callManagement('create-group-deployment', { parameters: { name: draft.group }, json });
  }
  const target = devices.length === 0 ? { all_devices: true } : { devices };
  return callManagement('create-deployment', { json: { ...json, ...target } });
}

/**
 * Returns the further fields of a deployment from JSON text.
 * @throws Error that describes the problem with the text
 */
function moreFields(text: string): object {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Malformed JSON and JSON of another type are reported below.
  }
  throw new Error('More fields: enter a JSON object, such as {"max_devices": 5}');
}
