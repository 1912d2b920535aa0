import type { Records } from '../../../../api.ts'
import { ActButton, Button, Choice, Field, Form } from '../../../../components/Form.tsx'
import { Icon } from '../../../../components/Icon.tsx'
import { Time } from '../../../../components/Time.tsx'
import { Empty, Row, Rows } from '../../../../components/lists.tsx'
import { Fold } from '../../../../components/settings.tsx'
import { optional, word } from '../../../../fields.ts'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text } from '../../../../page.ts'

interface Data {
  keys: Records['SshKey'][]
}

const USES = [
  ['auth_and_signing', 'Authentication & signing'],
  ['auth', 'Authentication only'],
  ['signing', 'Signing only'],
] as const

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api }) => ({ keys: api.get('/user/keys', { per_page: 100 }) }),
  title: () => 'SSH keys',
  View: ({ keys }) => (
    <>
      <h1>SSH keys</h1>
      <p class="quiet">Use SSH keys to push and pull without a password.</p>
      <Fold title="Add SSH key" action="add">
        <Form action="add" resets>
          <Field name="key" label="Public key" lines={4} required placeholder="ssh-ed25519 AAAA…" />
          <Field name="title" label="Title" required placeholder="Laptop" />
          <Choice name="usage_type" label="Usage type" options={USES} value="auth_and_signing" />
          <Field name="expires_at" label="Expiration date" type="date" />
          <Button kind="main">Add key</Button>
        </Form>
      </Fold>
      {keys.length === 0 ? (
        <Empty title="No SSH keys yet">
          <p>
            Generate a key with <code>ssh-keygen -t ed25519</code>, then paste the content of{' '}
            <code>id_ed25519.pub</code>.
          </p>
        </Empty>
      ) : (
        <Rows label="Keys">
          {keys.map((key) => (
            <Row
              key={key.id}
              lead={<Icon name="lock" />}
              title={key.title}
              facts={
                <>
                  <code>{key.key.slice(0, 60)}…</code> · added <Time at={key.created_at} /> ·{' '}
                  {key.last_used_at ? (
                    <>
                      last used <Time at={key.last_used_at} />
                    </>
                  ) : (
                    'never used'
                  )}
                  {key.expires_at && (
                    <>
                      {' '}
                      · expires <Time at={key.expires_at} />
                    </>
                  )}
                </>
              }
              aside={
                <ActButton
                  action="remove"
                  fields={{ key: key.id }}
                  kind="danger"
                  confirm={`Delete the key “${key.title}”?`}
                >
                  {' '}
                  Delete{' '}
                </ActButton>
              }
            />
          ))}
        </Rows>
      )}
    </>
  ),
  actions: {
    async add({ api, form }) {
      await api.post('/user/keys', {
        title: text(form, 'title'),
        key: text(form, 'key'),
        usage_type: word<'auth' | 'signing'>(form, 'usage_type'),
        expires_at: optional(form, 'expires_at'),
      })
    },
    async remove({ api, form }) {
      await api.delete('/user/keys/{key_id}', { key_id: text(form, 'key') })
    },
  },
})
