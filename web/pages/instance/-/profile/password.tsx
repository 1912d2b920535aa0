import { Button, Field, Form } from '../../../../components/Form.tsx'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text } from '../../../../page.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/user-settings.ts'

export const page = declare<object>({
  signedIn: true,
  frame: profileFrame,
  load: () => ({}),
  title: () => common.password,
  View: () => (
    <>
      <h1>{common.password}</h1>
      <p class="quiet">{t.changingPasswordSignsYouOut}</p>
      <Form action="change">
        <Field
          name="current_password"
          label={t.currentPassword}
          type="password"
          autocomplete="current-password"
          required
        />
        <Field
          name="password"
          label={common.newPassword}
          type="password"
          autocomplete="new-password"
          hint={t.minimum8Characters}
          required
        />
        <Button kind="main">{t.changePassword}</Button>
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
