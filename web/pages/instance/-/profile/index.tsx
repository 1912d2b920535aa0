/** The viewer's public profile. */
import type { Records } from '../../../../api.ts'
import { Avatar } from '../../../../components/Avatar.tsx'
import { Button, Field, Form, Switch } from '../../../../components/Form.tsx'
import { Chapter, Notice } from '../../../../components/settings.tsx'
import { chosenFile, flag } from '../../../../fields.ts'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text } from '../../../../page.ts'

interface Data {
  own: Records['OwnUser']
  status: Records['UserStatus']
}

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api }) => ({ own: api.get('/user', {}), status: api.get('/user/status', {}) }),
  title: () => 'Profile',
  View: ({ own, status }) => (
    <>
      <h1>Profile</h1>
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
        <Field name="name" label="Name" value={own.name} required />
        <Field name="avatar" label="Avatar" type="file" hint="PNG, JPEG, GIF or WebP, at most 200 KiB." />
        <Field name="bio" label="Bio" value={own.bio} lines={3} />
        <Field name="pronouns" label="Pronouns" value={own.pronouns} />
        <Field name="job_title" label="Job title" value={own.job_title} />
        <Field name="organization" label="Organization" value={own.organization} />
        <Field name="location" label="Location" value={own.location} />
        <Field name="website_url" label="Website" type="url" value={own.website_url} />
        <Field
          name="public_email"
          label="Public email"
          type="email"
          value={own.public_email}
          hint="Shown on your public profile. Must be one of your confirmed email addresses."
        />
        <Button kind="main">Save profile</Button>
      </Form>
      <Chapter title="Status" hint="Shown next to your name.">
        <Form action="status">
          <Field name="message" label="Message" value={status.message} />
          <Switch name="busy" label="Busy" isOn={status.availability === 'busy'} />
          <Button>Set status</Button>
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
      return { told: { notice: 'Profile saved.' } }
    },
    async status({ api, form }) {
      const availability = flag(form, 'busy') ? 'busy' : 'not_set'
      await api.put('/user/status', { message: text(form, 'message'), emoji: '', availability })
      return { told: { notice: 'Status saved.' } }
    },
  },
})

const avatarOf = (avatar: Blob | undefined) => (avatar ? { avatar } : {})
