/** One environment and its deployments. */
import type { Listed, Records } from '../../../api.ts'
import { CiTabs, RefLink, ShaLink } from '../../../components/CiParts.tsx'
import { ActButton, Button, Field, Form } from '../../../components/Form.tsx'
import { State } from '../../../components/State.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { outside } from '../../../outside.ts'
import { page as declare, text } from '../../../page.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/ci.ts'

interface Data {
  environment: Records['Environment']
  deployments: Listed<Records['Deployment'][]>
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load({ api, params, query }) {
    const id = params.id!
    const environment = api.get('/projects/{id}/environments/{environment_id}', {
      id,
      environment_id: params.environment!,
    })
    const deployments = environment.then(({ name }) =>
      api.list('/projects/{id}/deployments', {
        id,
        environment: name,
        order_by: 'id',
        sort: 'desc',
        page: Number(query.get('page')) || 1,
        per_page: 20,
      }),
    )
    return { environment, deployments }
  },
  title: ({ environment }) => environment.name,
  live: ({ project }) => ({ path: `/projects/${project.id}/live`, events: ['job.changed'] }),
  actions: {
    async stop({ api, params }) {
      const environment_id = params.environment!
      await api.post('/projects/{id}/environments/{environment_id}/stop', { id: params.id!, environment_id })
    },
    async update({ api, params, form }) {
      await api.put('/projects/{id}/environments/{environment_id}', {
        id: params.id!,
        environment_id: params.environment!,
        external_url: text(form, 'external_url') || null,
        description: text(form, 'description') || null,
      })
    },
    async remove({ api, params }) {
      const environment_id = params.environment!
      await api.delete('/projects/{id}/environments/{environment_id}', { id: params.id!, environment_id })
      return `/${params.id!}/-/environments?states=stopped`
    },
  },
  View({ project, environment, deployments }) {
    return (
      <>
        <CiTabs project={project} at="environments" />
        <div class="head ci-head">
          <div>
            <h1>{environment.name}</h1>
            <p class="quiet ci-line">
              <span>{environment.state}</span> <span>{environment.tier}</span> <span>{environment.description}</span>
              {environment.auto_stop_at && (
                <span>{rich(t.autoStopsTime, { time: <Time at={environment.auto_stop_at} /> })}</span>
              )}
            </p>
          </div>
          <div class="row">
            {environment.external_url && (
              <a class="button" data-kind="main" href={outside(environment.external_url)} rel="nofollow noreferrer">
                {' '}
                {t.viewDeployment}{' '}
              </a>
            )}
            {environment.state === 'available'
              ? project.can.run && (
                  <ActButton action="stop" confirm={t.stopNameQuestion(environment.name)}>
                    {t.stop}
                  </ActButton>
                )
              : project.can.manageEnvironments && (
                  <ActButton action="remove" kind="danger" confirm={t.deleteNameQuestion(environment.name)}>
                    {common.deleteLabel}
                  </ActButton>
                )}
          </div>
        </div>
        <h2>{t.deployments}</h2>
        {deployments.items.length > 0 ? (
          <Rows label={t.deployments}>
            {deployments.items.map((one) => (
              <Row
                key={one.id}
                lead={<State of={one.status} isShort />}
                title={
                  <>
                    #{one.iid}{' '}
                    {one.deployable && <a href={below(project, `jobs/${one.deployable.id}`)}>{one.deployable.name}</a>}
                  </>
                }
                facts={
                  <>
                    <RefLink project={project} name={one.ref} /> <ShaLink project={project} sha={one.sha} />
                    {one.deployable?.commit && ` ${one.deployable.commit.title}`}
                    {one.user && t.bySuffix(one.user.name)} <Time at={one.created_at} />
                  </>
                }
                aside={<State of={one.status} />}
              />
            ))}
          </Rows>
        ) : (
          <Empty title={t.noDeploymentsYet} />
        )}
        <Pages of={deployments} />
        {project.can.manageEnvironments && (
          <details class="card ci-adding">
            <summary>{common.edit}</summary>
            <Form action="update">
              <Field name="external_url" label={t.externalUrl} type="url" value={environment.external_url} />
              <Field name="description" label={common.description} value={environment.description} lines={3} />
              <Button kind="main">{common.save}</Button>
            </Form>
          </details>
        )}
      </>
    )
  },
})
