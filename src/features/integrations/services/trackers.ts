import type { FindTracker } from '../../../context.ts'
import { FeatureDisabled } from '../../../lib/levels.ts'
import { TRACKERS } from '../../../lib/text/tracker-keys.ts'
import type { Setting } from './model.ts'
import { effectiveServices } from './queries.ts'
import { propertiesOf } from './settings.ts'

/** Trackers whose issues are numbered. They apply only where the number cannot mean anything else. */
const NUMBERED = ['bugzilla', 'custom-issue-tracker', 'redmine', 'youtrack']

const withoutSlashes = (address: Setting | undefined) => String(address ?? '').replace(/\/+$/, '')

export const findTracker: FindTracker = async ({ db }, { id, issues_access_level }) => {
  const services = await effectiveServices(db, { project_id: id, group_id: null })
  const slug = TRACKERS.find((name) => services.get(name)?.row.active)
  if (!slug) return null
  const { url, issues_url } = propertiesOf(services.get(slug)!.row)
  const issuesUrl =
    slug === 'jira'
      ? `${withoutSlashes(url)}/browse/:id`
      : slug === 'zentao'
        ? `${withoutSlashes(url)}/:kind-view-:number.html`
        : String(issues_url ?? '')
  return { slug, issuesUrl, hasNumbers: NUMBERED.includes(slug) && issues_access_level === FeatureDisabled }
}
