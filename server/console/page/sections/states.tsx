/** Manages start states, snapshots and tenants. */
import { useState } from 'preact/hooks';
import { Badge } from '../../../../fixtures/page/badge.tsx';
import { Card } from '../../../../fixtures/page/card.tsx';
import { CopyButton } from '../../../../fixtures/page/copy-button.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { Table } from '../../../../fixtures/page/table.tsx';
import { request, requestJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import { chooseTenant } from '../api/session.ts';
import { ActionButton } from '../parts/action.tsx';
import { dayAndTime } from '../parts/texts.ts';
import { View } from '../parts/view.tsx';

const replaces = 'All devices, deployments and artifacts of this tenant are replaced.';

export default function StatesSection() {
  return (
    <>
      <h1>States and tenants</h1>
      <div class="two-columns">
        <Snapshots />
        <WorldFile />
      </div>
      <Tenants />
    </>
  );
}

function Snapshots() {
  const [name, setName] = useState('');
  const loaded = useLoaded(() => requestJson('GET /snapshots'), 'snapshots');
  const thenReload = (work: () => Promise<unknown>) => async (): Promise<void> => {
    await work();
    loaded.reload();
  };
  return (
    <Card title="Snapshots">
      <div class="filters">
        <label class="kit-field">
          Name
          <input value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <ActionButton
          kind="main"
          work={thenReload(() => request('PUT /snapshots/{name}', { parameters: { name } }))}
          done="The current state was saved."
          isDisabled={name === ''}
        >
          Save
        </ActionButton>
        <ActionButton
          kind="danger"
          work={() => request('POST /reset')}
          done="The tenant was reset to its start state."
          asks={{ title: 'Reset to the start state?', text: replaces, action: 'Reset' }}
        >
          Reset to the start state
        </ActionButton>
      </div>
      <View subject="the snapshots" loaded={loaded}>
        {(snapshots) =>
          snapshots.length === 0 ? (
            <Empty title="No snapshots" />
          ) : (
            <Table
              caption="Snapshots"
              isCaptionHidden
              rows={snapshots}
              keyOf={(each) => each.name}
              columns={[
                { title: 'Name', cell: (each) => each.name },
                { title: 'Taken', cell: ({ takenAt }) => dayAndTime(takenAt) },
                {
                  title: 'Actions',
                  cell: (each) => (
                    <span class="actions">
                      <ActionButton
                        kind="small"
                        work={() =>
                          request('POST /snapshots/{name}/restore', {
                            parameters: { name: each.name },
                          })
                        }
                        done={`${each.name} was restored.`}
                        asks={{ title: `Restore ${each.name}?`, text: replaces, action: 'Restore' }}
                      >
                        Restore
                      </ActionButton>
                      <ActionButton
                        kind="small"
                        work={thenReload(() =>
                          request('DELETE /snapshots/{name}', { parameters: { name: each.name } }),
                        )}
                        done={`${each.name} was deleted.`}
                        asks={{
                          title: `Delete ${each.name}?`,
                          text: 'The current state does not change.',
                          action: 'Delete',
                        }}
                      >
                        Delete
                      </ActionButton>
                    </span>
                  ),
                },
              ]}
            />
          )
        }
      </View>
    </Card>
  );
}

function WorldFile() {
  const [text, setText] = useState('');
  return (
    <Card title="Load a world file">
      <label class="kit-field">
        YAML or JSON, see <code>fleetbed world init</code>
        <textarea
          rows={10}
          value={text}
          spellcheck={false}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <label class="kit-field">
        or a file
        <input
          type="file"
          onChange={async (event) => setText((await event.currentTarget.files?.[0]?.text()) ?? '')}
        />
      </label>
      <div class="actions">
        <ActionButton
          kind="danger"
          work={() => request('POST /world', { body: text })}
          done="The world file was loaded."
          isDisabled={text.trim() === ''}
          asks={{ title: 'Load this world file?', text: replaces, action: 'Load' }}
        >
          Load
        </ActionButton>
      </div>
    </Card>
  );
}

function Tenants() {
  const loaded = useLoaded(() => requestJson('GET /tenants'), 'tenants');
  return (
    <Card title="All tenants">
      <View subject="the tenants" loaded={loaded}>
        {(tenants) => (
          <Table
            caption="Tenants"
            isCaptionHidden
            rows={tenants}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Name', cell: ({ name }) => name },
              {
                title: 'State',
                cell: ({ status }) => (
                  <Badge tone={status === 'active' ? 'positive' : 'negative'}>{status}</Badge>
                ),
              },
              { title: 'Created', cell: ({ createdAt }) => dayAndTime(createdAt) },
              {
                title: 'Tenant token',
                cell: ({ tenantToken }) => <CopyButton label="Copy" text={tenantToken} />,
              },
              {
                title: 'Actions',
                cell: ({ id }) => (
                  <button
                    type="button"
                    class="kit-button"
                    data-kind="small"
                    onClick={() => chooseTenant(id)}
                  >
                    Open
                  </button>
                ),
              },
            ]}
          />
        )}
      </View>
    </Card>
  );
}
