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
  ['auth_and_signing', 'Signing in and signing commits'],
  ['auth', 'Signing in only'],
  ['signing', 'Signing commits only'],
] as const

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api }) => ({ keys: api.get('/user/keys', { per_page: 100 }) }),
  title: () => 'SSH keys',
  View: ({ keys }) => (
    <>
      <h1>SSH keys</h1>
      <p class="quiet">With the private half of a key, git gets in over SSH without a password.</p>
      <Fold title="Add a key" action="add">
        <Form action="add" resets>
          <Field name="key" label="Public key" lines={4} required placeholder="ssh-ed25519 AAAA…" />
          <Field name="title" label="Title" required placeholder="Laptop" />
          <Choice name="usage_type" label="Used for" options={USES} value="auth_and_signing" />
          <Field name="expires_at" label="Expires" type="date" />
          <Button kind="main">Add key</Button>
        </Form>
      </Fold>
      {keys.length === 0 ? (
        <Empty title="No keys yet">
          <p>
            Make one with <code>ssh-keygen -t ed25519</code> and add what is in <code>id_ed25519.pub</code>.
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
                      used <Time at={key.last_used_at} />
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
                  confirm={`Remove the key “${key.title}”?`}
                >
                  Remove
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
