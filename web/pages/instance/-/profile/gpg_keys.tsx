import type { Records } from '../../../../api.ts'
import { ActButton, Button, Field, Form } from '../../../../components/Form.tsx'
import { Icon } from '../../../../components/Icon.tsx'
import { Time } from '../../../../components/Time.tsx'
import { Empty, Row, Rows } from '../../../../components/lists.tsx'
import { Fold } from '../../../../components/settings.tsx'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text } from '../../../../page.ts'

interface Data {
  keys: Records['GpgKey'][]
}

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api }) => ({ keys: api.get('/user/gpg_keys', {}) }),
  title: () => 'GPG keys',
  View: ({ keys }) => (
    <>
      <h1>GPG keys</h1>
      <p class="quiet">Commits signed with these keys are marked as verified.</p>
      <Fold title="Add GPG key" action="add">
        <Form action="add" resets>
          <Field
            name="key"
            label="Public key"
            lines={6}
            required
            placeholder="-----BEGIN PGP PUBLIC KEY BLOCK-----"
            hint="Paste the output of gpg --armor --export."
          />
          <Button kind="main">Add key</Button>
        </Form>
      </Fold>
      {keys.length === 0 ? (
        <Empty title="No GPG keys yet" />
      ) : (
        <Rows label="Keys">
          {keys.map(({ id, key, created_at }) => (
            <Row
              key={id}
              lead={<Icon name="lock" />}
              title={`Key ${id}`}
              facts={
                <>
                  <code>{key.split('\n')[2]?.slice(0, 40)}…</code> · added <Time at={created_at} />
                </>
              }
              aside={
                <>
                  <ActButton
                    action="revoke"
                    fields={{ key: id }}
                    confirm="Revoke this key? Commits signed with this key are no longer verified."
                  >
                    Revoke
                  </ActButton>
                  <ActButton action="remove" fields={{ key: id }} kind="danger" confirm="Delete this key?">
                    {' '}
                    Delete{' '}
                  </ActButton>
                </>
              }
            />
          ))}
        </Rows>
      )}
    </>
  ),
  actions: {
    async add({ api, form }) {
      await api.post('/user/gpg_keys', { key: text(form, 'key') })
    },
    async remove({ api, form }) {
      await api.delete('/user/gpg_keys/{key_id}', { key_id: text(form, 'key') })
    },
    async revoke({ api, form }) {
      await api.post('/user/gpg_keys/{key_id}/revoke', { key_id: text(form, 'key') })
    },
  },
})
