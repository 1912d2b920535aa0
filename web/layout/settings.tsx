/** Frames of settings pages: of a user, a project, a group and the instance. */
import { Refused, type Records } from '../api.ts'
import { SettingsColumns } from '../components/settings.tsx'
import { frame, type Frame } from '../page.ts'
import { belowGroup, groupFrame, type InGroup } from './group.tsx'
import { Shell } from './instance.tsx'
import { below, projectFrame, type InProject } from './project.tsx'

const PROFILE = [
  { href: '/-/profile', text: 'Profile' },
  { href: '/-/profile/password', text: 'Password' },
  { href: '/-/profile/two_factor_auth', text: 'Two-factor authentication' },
  { href: '/-/profile/emails', text: 'Emails' },
  { href: '/-/profile/notifications', text: 'Notifications' },
  { href: '/-/profile/preferences', text: 'Preferences' },
  { href: '/-/profile/keys', text: 'SSH keys' },
  { href: '/-/profile/gpg_keys', text: 'GPG keys' },
  { href: '/-/profile/personal_access_tokens', text: 'Access tokens' },
  { href: '/-/profile/applications', text: 'Applications' },
  { href: '/-/profile/active_sessions', text: 'Active sessions' },
]

export const profileFrame = frame<object>({
  load: () => ({}),
  title: () => 'Settings',
  View: ({ children, ...drawn }) => (
    <Shell {...drawn}>
      <main id="main" class="page">
        <SettingsColumns links={PROFILE} label="Settings">
          {children}
        </SettingsColumns>
      </main>
    </Shell>
  ),
})

const ADMIN = [
  { href: '/admin', text: 'Overview' },
  { href: '/admin/users', text: 'Users' },
  { href: '/admin/groups', text: 'Groups' },
  { href: '/admin/projects', text: 'Projects' },
  { href: '/admin/runners', text: 'Runners' },
  { href: '/admin/variables', text: 'CI/CD variables' },
  { href: '/admin/background_jobs', text: 'Background jobs' },
  { href: '/admin/audit_log', text: 'Audit log' },
  { href: '/admin/hooks', text: 'System hooks' },
  { href: '/admin/broadcast_messages', text: 'Broadcast messages' },
  { href: '/admin/applications', text: 'Applications' },
  { href: '/admin/application_settings', text: 'Settings' },
]

export const adminFrame = frame<object>({
  load({ me }) {
    // Other users get 404 for administration pages.
    if (!me?.is_admin) throw new Refused({ status: me ? 404 : 401, headers: {}, body: null })
    return {}
  },
  title: () => 'Administration',
  View: ({ children, ...drawn }) => (
    <Shell {...drawn}>
      <main id="main" class="page">
        <SettingsColumns links={ADMIN} label="Administration">
          {children}
        </SettingsColumns>
      </main>
    </Shell>
  ),
})

const chaptersOf = (project: Records['Project']) => [
  { href: below(project, 'edit'), text: 'General' },
  { href: below(project, 'settings/repository'), text: 'Repository' },
  { href: below(project, 'settings/merge_requests'), text: 'Merge requests' },
  { href: below(project, 'settings/ci_cd'), text: 'CI/CD' },
  { href: below(project, 'hooks'), text: 'Webhooks' },
  { href: below(project, 'settings/integrations'), text: 'Integrations' },
  { href: below(project, 'settings/access_tokens'), text: 'Access tokens' },
]

export const projectSettingsFrame: Frame<InProject> = frame<InProject>({
  ...projectFrame,
  View: ({ children, ...props }) => (
    <projectFrame.View {...props}>
      <SettingsColumns links={chaptersOf(props.project)} label="Settings">
        {children}
      </SettingsColumns>
    </projectFrame.View>
  ),
})

const chaptersOfGroup = (group: InGroup['group']) => [
  { href: belowGroup(group, 'edit'), text: 'General' },
  { href: belowGroup(group, 'settings/repository'), text: 'Repository' },
  { href: belowGroup(group, 'settings/ci_cd'), text: 'CI/CD' },
  { href: belowGroup(group, 'hooks'), text: 'Webhooks' },
  { href: belowGroup(group, 'settings/integrations'), text: 'Integrations' },
  { href: belowGroup(group, 'settings/ldap'), text: 'LDAP' },
  { href: belowGroup(group, 'settings/access_tokens'), text: 'Access tokens' },
]

export const groupSettingsFrame: Frame<InGroup> = frame<InGroup>({
  ...groupFrame,
  View: ({ children, ...props }) => (
    <groupFrame.View {...props}>
      <SettingsColumns links={chaptersOfGroup(props.group)} label="Settings">
        {children}
      </SettingsColumns>
    </groupFrame.View>
  ),
})
