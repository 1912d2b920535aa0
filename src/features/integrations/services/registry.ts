import * as chat from './declarations/chat.ts'
import * as ci from './declarations/ci.ts'
import * as commands from './declarations/commands.ts'
import { irker } from './declarations/irker.ts'
import { jira } from './declarations/jira.ts'
import * as kept from './declarations/retired.ts'
import { emailsOnPush, pipelinesEmail } from './declarations/mail.ts'
import * as trackers from './declarations/trackers.ts'
import type { Service } from './declare.ts'

/** Every service, one line each. */
export const SERVICES: readonly Service[] = [
  kept.appleAppStore,
  ci.asana,
  ci.assembla,
  ci.bamboo,
  trackers.bugzilla,
  ci.buildkite,
  kept.campfire,
  trackers.clickup,
  trackers.confluence,
  trackers.customIssueTracker,
  ci.datadog,
  kept.diffblueCover,
  chat.discord,
  ci.droneCi,
  emailsOnPush,
  trackers.ewm,
  trackers.externalWiki,
  kept.flowdock,
  kept.gemnasium,
  ci.github,
  kept.googlePlay,
  chat.hangoutsChat,
  kept.harbor,
  kept.hipchat,
  irker,
  ci.jenkins,
  jira,
  kept.kubernetes,
  chat.matrix,
  chat.mattermost,
  commands.mattermostSlashCommands,
  chat.microsoftTeams,
  ci.packagist,
  trackers.phorge,
  pipelinesEmail,
  ci.pivotaltracker,
  kept.prometheus,
  chat.pumble,
  chat.pushover,
  trackers.redmine,
  chat.slack,
  commands.slackSlashCommands,
  ci.squashTm,
  ci.teamcity,
  chat.telegram,
  chat.unifyCircuit,
  chat.webexTeams,
  trackers.youtrack,
  trackers.zentao,
]

const bySlug = new Map(SERVICES.map((service) => [service.slug, service]))

/** Some clients write the slug with underscores. */
export const serviceOf = (slug: string): Service | null => bySlug.get(slug.replaceAll('_', '-')) ?? null
