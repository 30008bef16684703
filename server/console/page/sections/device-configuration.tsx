/** Shows the configured and reported settings of a device, and deploys them. */
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

type ShownSettings = Readonly<Record<string, string>>;

function Comparison({
  configured,
  reported,
}: {
  configured: ShownSettings;
  reported: ShownSettings;
}) {
  const names = [...new Set([...Object.keys(configured), ...Object.keys(reported)])].sort();
  if (names.length === 0) return <Empty title="Nothing is configured or reported" />;
  return (
    <Table
      caption="Settings"
      isCaptionHidden
      rows={names}
      keyOf={(name) => name}
      columns={[
        { title: 'Name', cell: (name) => name },
        { title: 'Configured', cell: (name) => configured[name] ?? '–' },
        { title: 'Reported', cell: (name) => reported[name] ?? '–' },
        {
          title: '',
          cell: (name) =>
            configured[name] === reported[name] ? (
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
  configured: ShownSettings;
  deviceId: string;
  onSaved: () => void;
}) {
  // The edited text is kept separately, so that it is not lost when the server sends new settings.
  const [draft, setDraft] = useState<string | undefined>(undefined);
  const text = draft ?? linesOf(configured);
  const save = async (): Promise<void> => {
    const json = settingsIn(text);
    await callManagement('set-configuration', { parameters: { id: deviceId }, json });
    setDraft(undefined);
    onSaved();
  };
  return (
    <Card title="Change">
      <label class="kit-field">
        One setting per line, as name=value
        <textarea
          rows={8}
          value={text}
          spellcheck={false}
          onInput={(event) => setDraft(event.currentTarget.value)}
        />
      </label>
      <div class="actions">
        <ActionButton kind="main" work={save} done="The settings are saved. Deploy them now.">
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

function linesOf(settings: ShownSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}

function settingsIn(text: string): ShownSettings {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const pairs = lines.map((line): [string, string] => {
    const at = line.indexOf('=');
    if (at < 1) throw new Error(`“${line}” is not of the form name=value`);
    return [line.slice(0, at).trim(), line.slice(at + 1)];
  });
  return Object.fromEntries(pairs);
}
