import type { Records } from '../../../../api.ts'
import { Button, Choice, Form, Switch } from '../../../../components/Form.tsx'
import { Notice } from '../../../../components/settings.tsx'
import { flag, flags, optional } from '../../../../fields.ts'
import { profileFrame } from '../../../../layout/settings.tsx'
import { page as declare, text } from '../../../../page.ts'
import { sentence } from '../../../../words.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/user-settings.ts'

interface Data {
  setting: Records['GlobalNotificationSetting']
  emails: Records['Email'][]
}

const LEVELS = [
  ['participating', t.participateThreadsYouHaveParticipatedIn],
  ['watch', t.watchAllActivity],
  ['mention', t.onMentionCommentsThatMentionYou],
  ['custom', t.customParticipationAndEventsSelectedBelow],
  ['disabled', common.disabled],
] as const

const EVENTS = [
  'new_release',
  'new_note',
  'new_issue',
  'reopen_issue',
  'close_issue',
  'reassign_issue',
  'issue_due',
  'new_merge_request',
  'push_to_merge_request',
  'reopen_merge_request',
  'close_merge_request',
  'reassign_merge_request',
  'change_reviewer_merge_request',
  'merge_merge_request',
  'merge_when_pipeline_succeeds',
  'failed_pipeline',
  'fixed_pipeline',
  'success_pipeline',
  'moved_project',
] as const

export const page = declare<Data>({
  signedIn: true,
  frame: profileFrame,
  load: ({ api }) => ({
    setting: api.get('/notification_settings', {}),
    emails: api.get('/user/emails', { per_page: 100 }),
  }),
  title: () => common.notifications,
  View: ({ setting, emails, me }) => {
    const addresses = new Set([
      me!.email,
      setting.notification_email,
      ...emails.filter(({ confirmed_at }) => confirmed_at).map(({ email }) => email),
    ])
    return (
      <>
        <h1>{common.notifications}</h1>
        <Notice />
        <Form action="save">
          <Choice name="level" label={t.emailNotifications} options={LEVELS} value={setting.level} />
          <Choice
            name="notification_email"
            label={t.notificationEmail}
            options={[...addresses].map((address) => [address, address])}
            value={setting.notification_email}
          />
          <Switch
            name="notified_of_own_activity"
            label={t.notifyMeAboutMyOwnActivity}
            isOn={setting.notified_of_own_activity}
          />
          <fieldset class="boxes" data-wide>
            <legend>{t.customEvents}</legend>
            {EVENTS.map((name) => (
              <Switch name={name} label={sentence(name)} isOn={setting.events?.[name] ?? false} key={name} />
            ))}
          </fieldset>
          <Button kind="main">{common.save}</Button>
        </Form>
      </>
    )
  },
  actions: {
    async save({ api, form }) {
      const level = text(form, 'level')
      await api.put('/notification_settings', {
        level,
        notification_email: optional(form, 'notification_email'),
        notified_of_own_activity: flag(form, 'notified_of_own_activity'),
        ...(level === 'custom' && flags(form, EVENTS)),
      })
      return { flash: { notice: common.saved } }
    },
  },
})
