import { pageBelow } from '../../../lib/net/page-below.ts'
import type { App } from '../../../context.ts'
import type { EventMessage } from '../../../store/outbox.ts'
import type { Deployment } from '../../ci/environments/model.ts'
import { commitIn } from './ci.ts'
import { source, projectMessage, type Complete } from './message.ts'
import { hookCommit, hookProject, hookUserById, findProjectInNamespace, rowTime } from './shared.ts'

const SENT: readonly Deployment['status'][] = ['running', 'success', 'failed', 'canceled']

async function deploymentMessage(app: App, { id }: { id: number }): Promise<EventMessage[]> {
  const found = await app.db
    .selectFrom('deployments')
    .innerJoin('environments as e', 'e.id', 'deployments.environment_id')
    .selectAll('deployments')
    .select(['e.name', 'e.tier', 'e.slug', 'e.external_url'])
    .where('deployments.id', '=', id)
    .executeTakeFirst()
  const at = found && SENT.includes(found.status) ? await findProjectInNamespace(app, found.project_id) : null
  if (!found || !at) return []
  const project = hookProject(app, at)
  const user = await hookUserById(app, found.user_id)
  const body = {
    object_kind: 'deployment',
    status: found.status,
    status_changed_at: rowTime(found.updated_at),
    deployment_id: found.id,
    deployable_id: found.job_id,
    deployable_url: found.job_id === null ? null : pageBelow(project.web_url, `jobs/${found.job_id}`),
    environment: found.name,
    environment_tier: found.tier,
    environment_slug: found.slug,
    environment_external_url: found.external_url,
    project,
    short_sha: found.sha.slice(0, 8),
    user,
    user_url: user && `${app.url}/${user.username}`,
    commit_url: pageBelow(project.web_url, `commit/${found.sha}`),
    commit_title: null,
    ref: found.ref,
  }
  const { project_id } = found
  return [projectMessage({ kind: 'deployment', switch: 'deployment_events', project_id, body, complete: false })]
}

export const completeDeployment: Complete = async (app, { project_id, body }) => {
  const sha = (body as { commit_url: string }).commit_url.split('/').at(-1)!
  const commit = await commitIn(app, project_id, sha)
  return { ...body, commit_title: commit && hookCommit(commit, '').title }
}

export const deploymentSources = [source('deployment.changed', ['deployment_events'], deploymentMessage)]
