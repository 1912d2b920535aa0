import type { Records } from '../../../../api.ts'
import { ActButton, Button, Field, Form } from '../../../../components/Form.tsx'
import { Row, Rows } from '../../../../components/lists.tsx'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text } from '../../../../page.ts'

interface Data {
  emails: Records['Email'][]
}

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api }) => ({ emails: api.get('/user/emails', { per_page: 100 }) }),
  title: () => 'Emails',
  View: ({ emails, me }) => (
    <>
      <h1>Emails</h1>
      <p class="quiet">Commits with these email addresses are linked to your account.</p>
      <Rows label="Emails">
        <Row title={me!.email} facts="primary email" />
        {emails
          .filter(({ email }) => email !== me!.email)
          .map(({ id, email, confirmed_at }) => (
            <Row
              key={id}
              title={email}
              facts={confirmed_at ? 'confirmed' : 'unconfirmed: follow the link in the confirmation email'}
              aside={
                <ActButton action="remove" fields={{ email: id }} kind="danger" confirm={`Remove ${email}?`}>
                  Remove
                </ActButton>
              }
            />
          ))}
      </Rows>
      <h2>Add an email</h2>
      <Form action="add" resets>
        <Field name="email" label="Email" type="email" required />
        <Button kind="main">Add email</Button>
      </Form>
    </>
  ),
  actions: {
    async add({ api, form }) {
      await api.post('/user/emails', { email: text(form, 'email') })
    },
    async remove({ api, form }) {
      await api.delete('/user/emails/{email_id}', { email_id: text(form, 'email') })
    },
  },
})
