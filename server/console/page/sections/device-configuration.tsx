/** Shows the configured and reported values of a device, and deploys the configured ones. */
import { useState } from 'preact/hooks';
import type { ConfigurationView } from '../../../../fixtures/contract/management/configuration.ts';
import { Badge } from '../../../../fixtures/page/badge.tsx';
import { Card } from '../../../../fixtures/page/card.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { Table } from '../../../../fixtures/page/table.tsx';
import { useLoaded } from '../api/loaded.ts';
import { callManagement, manageJson } from '../api/management.ts';
import { ActionButton } from '../parts/action.tsx';
import { View } from '../parts/view.tsx';

export function DeviceConfiguration({ deviceId }: { deviceId: string }) {
  const parameters = { id: deviceId };
  const loaded = useLoaded(
    () => manageJson<ConfigurationView>('show-configuration', { parameters }),
    `configuration ${deviceId}`,
    { isLive: true },
  );
  return (
    <View subject="the configuration" loaded={loaded}>
      {({ configured, reported, deployment_id: deployment }) => (
        <div class="two-columns">
          <Card
            title="Configured and reported"
            aside={
              <ActionButton
                work={() => callManagement('deploy-configuration', { parameters, json: {} })}
                done="The configuration is deployed with the device's next poll."
                isDisabled={Object.keys(configured).length === 0}
              >
                Deploy
              </ActionButton>
            }
          >
            <Comparison configured={configured} reported={reported} />
            {deployment && (
              <p class="muted">
                Last deployment: <code>{deployment}</code>
              </p>
            )}
          </Card>
          <Editor configured={configured} deviceId={deviceId} onSaved={loaded.reload} />
        </div>
      )}
    </View>
  );
}

type ShownPairs = Readonly<Record<string, string>>;

function Comparison({ configured, reported }: { configured: ShownPairs; reported: ShownPairs }) {
  const keys = [...new Set([...Object.keys(configured), ...Object.keys(reported)])].sort();
  if (keys.length === 0) return <Empty title="Nothing is configured or reported" />;
  return (
    <Table
      caption="Configuration"
      isCaptionHidden
      rows={keys}
      keyOf={(key) => key}
      columns={[
        { title: 'Key', cell: (key) => key },
        { title: 'Configured', cell: (key) => configured[key] ?? '–' },
        { title: 'Reported', cell: (key) => reported[key] ?? '–' },
        {
          title: '',
          cell: (key) =>
            configured[key] === reported[key] ? (
              <Badge tone="positive">same</Badge>
            ) : (
              <Badge tone="pending">differs</Badge>
            ),
        },
      ]}
    />
  );
}

function Editor({
  configured,
  deviceId,
  onSaved,
}: {
  configured: ShownPairs;
  deviceId: string;
  onSaved: () => void;
}) {
  // The edited text is kept separately, so that it is not lost when the server sends other values.
  const [draft, setDraft] = useState<string | undefined>(undefined);
  const text = draft ?? linesOf(configured);
  const save = async (): Promise<void> => {
    const json = pairsIn(text);
    await callManagement('set-configuration', { parameters: { id: deviceId }, json });
    setDraft(undefined);
    onSaved();
  };
  return (
    <Card title="Change">
      <label class="kit-field">
        One pair per line, as key=value
        <textarea
          rows={8}
          value={text}
          spellcheck={false}
          onInput={(event) => setDraft(event.currentTarget.value)}
        />
      </label>
      <div class="actions">
        <ActionButton kind="main" work={save} done="The configuration is saved. Deploy it now.">
          Save
        </ActionButton>
        <button
          type="button"
          class="kit-button"
          disabled={draft === undefined}
          onClick={() => setDraft(undefined)}
        >
          Undo
        </button>
      </div>
    </Card>
  );
}

function linesOf(pairs: ShownPairs): string {
  return Object.entries(pairs)
    .map(([key, value]) => `${key}=${value}`)
    .join('\n');
}

function pairsIn(text: string): ShownPairs {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const pairs = lines.map((line): [string, string] => {
    const at = line.indexOf('=');
    if (at < 1) throw new Error(`“${line}” is not of the form key=value`);
    return [line.slice(0, at).trim(), line.slice(at + 1)];
  });
  return Object.fromEntries(pairs);
}
