/** The viewer's public profile. */
import type { Records } from '../../../../api.ts'
import { Avatar } from '../../../../components/Avatar.tsx'
import { Button, Field, Form, Switch } from '../../../../components/Form.tsx'
import { Chapter, Notice } from '../../../../components/settings.tsx'
import { chosenFile, flag } from '../../../../fields.ts'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text } from '../../../../page.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/user-settings.ts'

interface Data {
  own: Records['OwnUser']
  status: Records['UserStatus']
}

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api }) => ({ own: api.get('/user', {}), status: api.get('/user/status', {}) }),
  title: () => common.profile,
  View: ({ own, status }) => (
    <>
      <h1>{common.profile}</h1>
      <Notice />
      <p class="row">
        <Avatar of={own} size={48} />
        <span>
          <a href={`/${own.username}`}>@{own.username}</a>
          <br />
          <span class="quiet">{own.email}</span>
        </span>
      </p>
      <Form action="save" files>
        <Field name="name" label={common.name} value={own.name} required />
        <Field name="avatar" label={common.avatar} type="file" hint={t.pngJpegGifOrWeb} />
        <Field name="bio" label={t.bio} value={own.bio} lines={3} />
        <Field name="pronouns" label={t.pronouns} value={own.pronouns} />
        <Field name="job_title" label={t.jobTitle} value={own.job_title} />
        <Field name="organization" label={t.organization} value={own.organization} />
        <Field name="location" label={t.location} value={own.location} />
        <Field name="website_url" label={t.website} type="url" value={own.website_url} />
        <Field
          name="public_email"
          label={t.publicEmail}
          type="email"
          value={own.public_email}
          hint={t.shownOnYourPublicProfile}
        />
        <Button kind="main">{t.saveProfile}</Button>
      </Form>
      <Chapter title={common.status} hint={t.shownNextToYourName}>
        <Form action="status">
          <Field name="message" label={common.message} value={status.message} />
          <Switch name="busy" label={t.busy} isOn={status.availability === 'busy'} />
          <Button>{t.setStatus}</Button>
        </Form>
      </Chapter>
    </>
  ),
  actions: {
    async save({ api, form }) {
      await api.put('/user', {
        name: text(form, 'name'),
        bio: text(form, 'bio'),
        pronouns: text(form, 'pronouns'),
        job_title: text(form, 'job_title'),
        organization: text(form, 'organization'),
        location: text(form, 'location'),
        website_url: text(form, 'website_url'),
        public_email: text(form, 'public_email'),
        ...avatarOf(chosenFile(form, 'avatar')),
      })
      return { flash: { notice: t.profileSaved } }
    },
    async status({ api, form }) {
      const availability = flag(form, 'busy') ? 'busy' : 'not_set'
      await api.put('/user/status', { message: text(form, 'message'), emoji: '', availability })
      return { flash: { notice: t.statusSaved } }
    },
  },
})

const avatarOf = (avatar: Blob | undefined) => (avatar ? { avatar } : {})
