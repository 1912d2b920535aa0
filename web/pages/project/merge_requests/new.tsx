/** A merge request is created in two steps: the branches, then title and description. The URL keeps both. */
import type { Records } from '../../../api.ts'
import { Button, Choice, Field, Form, Switch } from '../../../components/Form.tsx'
import { Listing, labelNames } from '../../../components/MergeRequests.tsx'
import { Empty } from '../../../components/lists.tsx'
import { TemplateLinks, loadTemplates, type TextTemplates } from '../../../components/Templates.tsx'
import { WritingArea } from '../../../components/WritingArea.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { developersAmong } from '../../../levels.ts'
import { page as declare, text, texts, type PageRequest } from '../../../page.ts'
import { CommitRows } from './Commits.tsx'
import { pathOf } from '../../../refs.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/merge-requests.ts'
import './new.css'

interface Scope {
  id: number
  path: string
  defaultBranch: string | null
}

interface Data {
  source: Scope
  target: Scope
  sources: Scope[]
  targets: Scope[]
  sourceBranches: string[]
  targetBranches: string[]
  comparison: Records['Compare'] | null
  labels: Records['Label'][]
  milestones: Records['Milestone'][]
  members: Records['Member'][]
  templates: TextTemplates
}

/** Links that git prints use `merge_request[source_branch]`. */
const given = (query: URLSearchParams, name: string) =>
  (query.get(name) ?? query.get(`merge_request[${name}]`) ?? '').trim()

const scopeOf = ({ id, path_with_namespace, default_branch }: Records['SimpleProject']): Scope => ({
  id,
  path: path_with_namespace,
  defaultBranch: default_branch,
})

async function load(request: PageRequest) {
  const { api, params, query } = request
  const id = params.id!
  const [own, forks] = await Promise.all([
    api.get('/projects/{id}', { id }),
    api.maybe('/projects/{id}/forks', { id, membership: true, per_page: 100 }),
  ])
  const parent = own.forked_from_project
  const sources = [own, ...(forks ?? [])].map(scopeOf)
  const isNamed = (scope: Scope, name: string) => String(scope.id) === given(query, name)
  const source = sources.find((scope) => isNamed(scope, 'source_project_id')) ?? sources[0]!
  const isOwn = source.id === own.id
  const targets = (isOwn && parent ? [parent, own] : isOwn ? [own] : [own, source]).map((one) =>
    'path' in one && 'defaultBranch' in one ? one : scopeOf(one),
  )
  const target = targets.find((scope) => isNamed(scope, 'target_project_id')) ?? targets[0]!
  const from = given(query, 'target_branch') || target.defaultBranch || ''
  const to = given(query, 'source_branch')
  const branches = async (scope: Scope) =>
    (await api.maybe('/projects/{id}/repository/branches', { id: scope.id, per_page: 100, sort: 'updated_desc' })) ?? []
  const names = (found: Records['Branch'][]) => found.map(({ name }) => name)
  const few = { id: target.id, per_page: 100 }
  return {
    source,
    target,
    sources,
    targets,
    sourceBranches: branches(source).then(names),
    targetBranches: branches(target).then(names),
    comparison: to
      ? api.maybe('/projects/{id}/repository/compare', { id: source.id, from, to, from_project_id: target.id })
      : Promise.resolve(null),
    labels: api.maybe('/projects/{id}/labels', few).then((found) => found ?? []),
    milestones: api.maybe('/projects/{id}/milestones', { ...few, state: 'active' }).then((found) => found ?? []),
    members: api.maybe('/projects/{id}/members/all', few).then((found) => found ?? []),
    templates: loadTemplates(request, target.id, 'merge_requests'),
  }
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  signedIn: true,
  load,
  title: () => t.newMergeRequest,
  actions: {
    async propose({ api, form }) {
      const made = await api.post('/projects/{id}/merge_requests', {
        id: text(form, 'source_project_id'),
        target_project_id: Number(text(form, 'target_project_id')),
        source_branch: text(form, 'source_branch'),
        target_branch: text(form, 'target_branch'),
        title: (text(form, 'is_draft') === 'true' ? 'Draft: ' : '') + text(form, 'title'),
        description: text(form, 'description'),
        assignee_ids: texts(form, 'assignee_ids').map(Number),
        reviewer_ids: texts(form, 'reviewer_ids').map(Number),
        labels: labelNames(text(form, 'labels')),
        ...(text(form, 'milestone_id') && { milestone_id: Number(text(form, 'milestone_id')) }),
        remove_source_branch: text(form, 'remove_source_branch') === 'true',
        squash: text(form, 'squash') === 'true',
        ...(text(form, 'allow_collaboration') && {
          allow_collaboration: text(form, 'allow_collaboration') === 'true',
        }),
      })
      return pathOf(made.web_url)
    },
  },
  View: (data) => {
    const { project, query, comparison, target } = data
    const sourceBranch = given(query, 'source_branch')
    const targetBranch = given(query, 'target_branch') || target.defaultBranch || ''
    const isChosen = sourceBranch !== '' && query.get('change') === null
    return (
      <>
        <h1>{t.newMergeRequest}</h1>
        {isChosen ? (
          <Proposal {...data} project={project} sourceBranch={sourceBranch} targetBranch={targetBranch} />
        ) : (
          <Branches {...data} project={project} sourceBranch={sourceBranch} targetBranch={targetBranch} />
        )}
        {isChosen && !comparison && (
          <p class="fault" role="alert">
            {t.theBranchesCouldNot}
          </p>
        )}
      </>
    )
  },
})

interface StepProps extends Data {
  project: InProject['project']
  sourceBranch: string
  targetBranch: string
}

function Branches({ project, sources, targets, source, target, ...rest }: StepProps) {
  const { sourceBranch, targetBranch, sourceBranches, targetBranches } = rest
  if (sourceBranches.length === 0)
    return (
      <Empty title={t.noBranchesToMerge}>
        <p>{t.pushBranchFirstPushOutput}</p>
      </Empty>
    )
  const options = (scopes: Scope[]) => scopes.map(({ id, path }) => [String(id), path] as const)
  return (
    <form action={below(project, 'merge_requests/new')} class="review-branches">
      <fieldset>
        <legend>{common.source}</legend>
        {sources.length > 1 && (
          <Choice name="source_project_id" label={t.sourceProject} options={options(sources)} value={source.id} />
        )}
        <Listing name="source_branch" label={t.sourceBranch} of={sourceBranches} value={sourceBranch} required />
      </fieldset>
      <fieldset>
        <legend>{t.target}</legend>
        {targets.length > 1 && (
          <Choice name="target_project_id" label={t.targetProject} options={options(targets)} value={target.id} />
        )}
        <Listing name="target_branch" label={common.targetBranch} of={targetBranches} value={targetBranch} required />
      </fieldset>
      <p>
        <button class="button" data-kind="main">
          {t.compareAndContinue}
        </button>
      </p>
    </form>
  )
}

/** The default title: of a single commit its title; for a branch `12-a-name`, issue 12. */
function firstWords(branch: string, commits: readonly Records['Commit'][]): { title: string; body: string } {
  const issue = /^(\d+)-(.+)$/.exec(branch)
  const closes = issue ? t.closesIssue(issue[1]) : ''
  const [only] = commits
  if (only && commits.length === 1) {
    const body = only.message.slice(only.title.length).trim()
    return { title: only.title, body: [body, closes].filter(Boolean).join('\n\n') }
  }
  const words = (issue?.[2] ?? branch.split('/').at(-1)!).replaceAll(/[-_]+/g, ' ').trim()
  return { title: words.charAt(0).toUpperCase() + words.slice(1), body: closes }
}

function Proposal(props: StepProps) {
  const { project, source, target, sourceBranch, targetBranch, comparison, labels, milestones, members } = props
  const commits = comparison?.commits ?? []
  const words = firstWords(sourceBranch, commits)
  const isFork = source.id !== target.id
  const mayPlan = !isFork && project.can.createMergeRequest
  const named = (scope: Scope, branch: string) => (isFork ? `${scope.path}:${branch}` : branch)
  const people = developersAmong(members).map(
    ({ id, name, username }) => [String(id), `${name} (@${username})`] as const,
  )
  const change = new URLSearchParams({
    source_project_id: String(source.id),
    source_branch: sourceBranch,
    target_project_id: String(target.id),
    target_branch: targetBranch,
    change: '1',
  })
  return (
    <>
      <p class="review-route">
        {rich(t.namedIntoNamed2ChangeBranches, {
          named: <code>{named(source, sourceBranch)}</code>,
          named2: <code>{named(target, targetBranch)}</code>,
          link: (text) => <a href={`?${change}`}>{text}</a>,
        })}
      </p>
      {comparison && commits.length === 0 && (
        <Empty title={t.noChangesToMerge}>
          <p>{t.sourceBranchIsAlreadyMerged(sourceBranch, targetBranch)}</p>
        </Empty>
      )}
      <TemplateLinks of={props.templates} />
      <Form action="propose">
        <input type="hidden" name="source_project_id" value={source.id} />
        <input type="hidden" name="target_project_id" value={target.id} />
        <input type="hidden" name="source_branch" value={sourceBranch} />
        <input type="hidden" name="target_branch" value={targetBranch} />
        <div class="columns">
          <div>
            <Field name="title" label={common.title} required value={words.title} />
            <Switch name="is_draft" label={t.draft} hint={t.draftsCannotBeMergedUntil} />
            <WritingArea
              name="description"
              label={common.description}
              lines={8}
              value={[words.body, props.templates.text].filter(Boolean).join('\n\n')}
              hasCommands
            />
          </div>
          <div>
            {mayPlan && (
              <>
                <Choice name="assignee_ids[]" label={common.assignees} multiple values={[]} options={people} />
                <Choice name="reviewer_ids[]" label={t.reviewers} multiple values={[]} options={people} />
                <Listing
                  name="labels"
                  label={common.labels}
                  of={labels.map(({ name }) => name)}
                  hint={common.commaSeparated}
                />
                <Choice
                  name="milestone_id"
                  label={common.milestone}
                  options={[['', common.none], ...milestones.map(({ id, title }) => [String(id), title] as const)]}
                />
              </>
            )}
            <Switch
              name="remove_source_branch"
              label={t.deleteSourceBranchWhenMerged}
              isOn={project.remove_source_branch_after_merge}
            />
            {project.squash_option !== 'never' && (
              <Switch
                name="squash"
                label={t.squashCommitsWhenMerged}
                isOn={project.squash_option === 'always' || project.squash_option === 'default_on'}
              />
            )}
            {isFork && <Switch name="allow_collaboration" label={t.allowCommitsFromMembersWho} isOn={true} />}
          </div>
        </div>
        <Button kind="main">{t.createMergeRequest}</Button>
      </Form>
      {commits.length > 0 && (
        <>
          <h2>{t.commitsFiles(commits.length, comparison!.diffs.length)}</h2>
          <CommitRows commits={commits.toReversed().slice(0, 100)} project={project} />
        </>
      )}
    </>
  )
}
