import { Button, Field, Form } from '../../../../components/Form.tsx'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text } from '../../../../page.ts'

export const page = declare<object>({
  signedIn: true,
  frame: profileFrame,
  load: () => ({}),
  title: () => 'Password',
  View: () => (
    <>
      <h1>Password</h1>
      <p class="quiet">Changing the password signs you out of all sessions.</p>
      <Form action="change">
        <Field
          name="current_password"
          label="Current password"
          type="password"
          autocomplete="current-password"
          required
        />
        <Field
          name="password"
          label="New password"
          type="password"
          autocomplete="new-password"
          hint="Minimum 8 characters."
          required
        />
        <Button kind="main">Change password</Button>
      </Form>
    </>
  ),
  actions: {
    async change({ api, form }) {
      await api.put('/user', {
        current_password: text(form, 'current_password'),
        password: text(form, 'password'),
      })
      return '/-/profile'
    },
  },
})
