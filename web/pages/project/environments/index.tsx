/** The environments of a project, with their last deployments. */
import type { Listed, Records } from '../../../api.ts'
import { CiTabs, ShaLink, RefLink, SubTabs } from '../../../components/CiParts.tsx'
import { ActButton, Button, Choice, Field, Form } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { State } from '../../../components/State.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject, type Project } from '../../../layout/project.tsx'
import { outside } from '../../../outside.ts'
import { page as declare, text } from '../../../page.ts'
import { withQuery } from '../../../query.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/ci.ts'

type Environment = Records['Environment']

interface Data {
  environments: Listed<Environment[]>
}

const TIERS = ['production', 'staging', 'testing', 'development', 'other'] as const

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load({ api, params, query }) {
    const id = params.id!
    const states = query.get('states') === 'stopped' ? ('stopped' as const) : ('available' as const)
    const search = query.get('search') ?? ''
    const list = api.list('/projects/{id}/environments', {
      id,
      states,
      // The API rejects shorter texts.
      ...(search.length > 2 && { search }),
      page: Number(query.get('page')) || 1,
      per_page: 20,
    })
    // The list does not contain the last deployment, so each environment is loaded.
    const environments = list.then(async (found) => ({
      ...found,
      items: await Promise.all(
        found.items.map(({ id: environment_id }) =>
          api.get('/projects/{id}/environments/{environment_id}', { id, environment_id }),
        ),
      ),
    }))
    return { environments }
  },
  title: () => t.environments,
  live: ({ project }) => ({ path: `/projects/${project.id}/live`, events: ['job.changed'] }),
  actions: {
    async create({ api, params, form }) {
      const made = await api.post('/projects/{id}/environments', {
        id: params.id!,
        name: text(form, 'name'),
        external_url: text(form, 'external_url') || undefined,
        tier: TIERS.find((one) => one === text(form, 'tier')),
      })
      return `/${params.id!}/-/environments/${made.id}`
    },
    async stop({ api, params, form }) {
      const environment_id = text(form, 'environment')
      await api.post('/projects/{id}/environments/{environment_id}/stop', { id: params.id!, environment_id })
    },
  },
  View: ({ project, environments, query, address }) => (
    <>
      <CiTabs project={project} at="environments" />
      <h1 class="ci-head">{t.environments}</h1>
      <SubTabs
        label={common.status}
        tabs={(['available', 'stopped'] as const).map((state) => ({
          text: state === 'available' ? t.available : t.stopped,
          href: withQuery(address, { states: state === 'available' ? null : state }),
          isCurrent: (query.get('states') === 'stopped') === (state === 'stopped'),
        }))}
      />
      {environments.items.length > 0 ? (
        <Rows label={t.environments}>
          {environments.items.map((one) => (
            <EnvironmentRow key={one.id} of={one} project={project} />
          ))}
        </Rows>
      ) : (
        <Empty title={t.noEnvironments}>
          <p>{rich(t.addEnvironmentProductionToDeploymentJob, { code: (text) => <code>{text}</code> })}</p>
        </Empty>
      )}
      <Pages of={environments} />
      {project.can.run && (
        <details class="card ci-adding">
          <summary>{t.newEnvironment}</summary>
          <Form action="create">
            <Field name="name" label={common.name} required />
            <Field name="external_url" label={t.externalUrl} type="url" placeholder="https://" />
            <Choice
              name="tier"
              label={t.tier}
              options={[['', t.detectFromName], ...TIERS.map((one) => [one, one] as const)]}
            />
            <Button kind="main">{t.createEnvironment}</Button>
          </Form>
        </details>
      )}
    </>
  ),
})

function EnvironmentRow({ of, project }: { of: Environment; project: Project }) {
  const last = of.last_deployment
  return (
    <Row
      lead={last ? <State of={last.status} isShort /> : <Icon name="skipped" />}
      title={<a href={below(project, `environments/${of.id}`)}>{of.name}</a>}
      facts={
        last ? (
          <>
            {rich(t.tierDeployment(last.iid), {
              tier: of.tier,
              refLink: <RefLink project={project} name={last.ref} />,
            })}{' '}
            <ShaLink project={project} sha={last.sha} />
            {last.user && t.bySuffix(last.user.name)} <Time at={last.created_at} />
          </>
        ) : (
          t.tierNoDeploymentsYet(of.tier)
        )
      }
      aside={
        <>
          {of.external_url && (
            <a class="button" href={outside(of.external_url)} rel="nofollow noreferrer">
              {' '}
              {t.viewDeployment}{' '}
            </a>
          )}
          {project.can.run && of.state === 'available' && (
            <ActButton
              action="stop"
              fields={{ environment: of.id }}
              id={`environment-${of.id}`}
              label={t.stopName(of.name)}
              confirm={t.stopNameQuestion(of.name)}
            >
              {t.stop}
            </ActButton>
          )}
        </>
      }
    />
  )
}
