import type { Records } from '../../../../api.ts'
import { ActButton, Button, Field, Form } from '../../../../components/Form.tsx'
import { Row, Rows } from '../../../../components/lists.tsx'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text } from '../../../../page.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/user-settings.ts'

interface Data {
  emails: Records['Email'][]
}

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api }) => ({ emails: api.get('/user/emails', { per_page: 100 }) }),
  title: () => common.emails,
  View: ({ emails, me }) => (
    <>
      <h1>{common.emails}</h1>
      <p class="quiet">{t.commitsWithTheseEmailAddresses}</p>
      <Rows label={common.emails}>
        <Row title={me!.email} facts={t.primaryEmail} />
        {emails
          .filter(({ email }) => email !== me!.email)
          .map(({ id, email, confirmed_at }) => (
            <Row
              key={id}
              title={email}
              facts={confirmed_at ? t.confirmed : t.unconfirmedFollowLinkInConfirmationEmail}
              aside={
                <ActButton action="remove" fields={{ email: id }} kind="danger" confirm={t.removeEmail(email)}>
                  {common.remove}
                </ActButton>
              }
            />
          ))}
      </Rows>
      <h2>{t.addEmailHeading}</h2>
      <Form action="add" resets>
        <Field name="email" label={common.email} type="email" required />
        <Button kind="main">{t.addEmail}</Button>
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
