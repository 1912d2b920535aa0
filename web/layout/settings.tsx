/** Frames of settings pages: of a user, a project, a group and the instance. */
import { Refused, type Records } from '../api.ts'
import { SettingsColumns } from '../components/settings.tsx'
import { frame, type Frame } from '../page.ts'
import { belowGroup, groupFrame, type InGroup } from './group.tsx'
import { Shell } from './instance.tsx'
import { below, projectFrame, type InProject } from './project.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/shell.ts'

const PROFILE = [
  { href: '/-/profile', text: common.profile },
  { href: '/-/profile/password', text: common.password },
  { href: '/-/profile/two_factor_auth', text: common.twoFactorAuthentication },
  { href: '/-/profile/emails', text: common.emails },
  { href: '/-/profile/notifications', text: common.notifications },
  { href: '/-/profile/preferences', text: common.preferences },
  { href: '/-/profile/keys', text: common.sshKeys },
  { href: '/-/profile/gpg_keys', text: common.gpgKeys },
  { href: '/-/profile/personal_access_tokens', text: common.accessTokens },
  { href: '/-/profile/applications', text: common.applications },
  { href: '/-/profile/active_sessions', text: common.activeSessions },
]

export const profileFrame = frame<object>({
  load: () => ({}),
  title: () => common.settings,
  View: ({ children, ...drawn }) => (
    <Shell {...drawn}>
      <main id="main" class="page">
        <SettingsColumns links={PROFILE} label={common.settings}>
          {children}
        </SettingsColumns>
      </main>
    </Shell>
  ),
})

const ADMIN = [
  { href: '/admin', text: common.overview },
  { href: '/admin/users', text: common.users },
  { href: '/admin/groups', text: common.groups },
  { href: '/admin/projects', text: common.projects },
  { href: '/admin/runners', text: common.runners },
  { href: '/admin/variables', text: common.ciCdVariables },
  { href: '/admin/background_jobs', text: common.backgroundJobs },
  { href: '/admin/audit_log', text: common.auditLog },
  { href: '/admin/hooks', text: common.systemHooks },
  { href: '/admin/broadcast_messages', text: common.broadcastMessages },
  { href: '/admin/applications', text: common.applications },
  { href: '/admin/application_settings', text: common.settings },
]

export const adminFrame = frame<object>({
  load({ me }) {
    // Other users get 404 for administration pages.
    if (!me?.is_admin) throw new Refused({ status: me ? 404 : 401, headers: {}, body: null })
    return {}
  },
  title: () => common.administration,
  View: ({ children, ...drawn }) => (
    <Shell {...drawn}>
      <main id="main" class="page">
        <SettingsColumns links={ADMIN} label={common.administration}>
          {children}
        </SettingsColumns>
      </main>
    </Shell>
  ),
})

const chaptersOf = (project: Records['Project']) => [
  { href: below(project, 'edit'), text: t.general },
  { href: below(project, 'settings/repository'), text: common.repository },
  { href: below(project, 'settings/merge_requests'), text: common.mergeRequests },
  { href: below(project, 'settings/ci_cd'), text: 'CI/CD' },
  { href: below(project, 'hooks'), text: common.webhooks },
  { href: below(project, 'settings/integrations'), text: common.integrations },
  { href: below(project, 'settings/access_tokens'), text: common.accessTokens },
]

export const projectSettingsFrame: Frame<InProject> = frame<InProject>({
  ...projectFrame,
  View: ({ children, ...props }) => (
    <projectFrame.View {...props}>
      <SettingsColumns links={chaptersOf(props.project)} label={common.settings}>
        {children}
      </SettingsColumns>
    </projectFrame.View>
  ),
})

const chaptersOfGroup = (group: InGroup['group']) => [
  { href: belowGroup(group, 'edit'), text: t.general },
  { href: belowGroup(group, 'settings/repository'), text: common.repository },
  { href: belowGroup(group, 'settings/ci_cd'), text: 'CI/CD' },
  { href: belowGroup(group, 'hooks'), text: common.webhooks },
  { href: belowGroup(group, 'settings/integrations'), text: common.integrations },
  { href: belowGroup(group, 'settings/ldap'), text: 'LDAP' },
  { href: belowGroup(group, 'settings/access_tokens'), text: common.accessTokens },
]

export const groupSettingsFrame: Frame<InGroup> = frame<InGroup>({
  ...groupFrame,
  View: ({ children, ...props }) => (
    <groupFrame.View {...props}>
      <SettingsColumns links={chaptersOfGroup(props.group)} label={common.settings}>
        {children}
      </SettingsColumns>
    </groupFrame.View>
  ),
})
