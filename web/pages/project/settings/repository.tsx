/** Protected branches and tags, push rules, deploy keys and tokens of the project. */
import type { Records } from '../../../api.ts'
import { DeployTokens, deployTokenActions } from '../../../components/DeployTokens.tsx'
import { ActButton, Button, Choice, Field, Form, Switch } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Time } from '../../../components/Time.tsx'
import { Row, Rows } from '../../../components/lists.tsx'
import { Chapter, Fold, Notice } from '../../../components/settings.tsx'
import { count, flag, flags } from '../../../fields.ts'
import type { InProject } from '../../../layout/project.tsx'
import { projectSettingsFrame } from '../../../layout/settings.tsx'
import { page as declare, text } from '../../../page.ts'

interface Data {
  branches: Records['ProtectedBranch'][]
  tags: Records['ProtectedTag'][]
  keys: Records['DeployKey'][]
  tokens: Records['DeployToken'][]
  rule: Records['PushRule'] | null
}

const LEVELS = [
  ['40', 'Maintainers'],
  ['30', 'Developers and maintainers'],
  ['0', 'No one'],
] as const
type Level = 0 | 30 | 40

const RULE_TEXTS = [
  ['commit_message_regex', 'Commit messages must match'],
  ['commit_message_negative_regex', 'Commit messages must not match'],
  ['branch_name_regex', 'Branch names must match'],
  ['author_email_regex', 'Commit author emails must match'],
  ['file_name_regex', 'File names must not match'],
] as const

const RULE_FLAGS = [
  ['deny_delete_tag', 'Do not allow users to remove tags with git push'],
  ['member_check', 'Commit authors must be users'],
  ['prevent_secrets', 'Reject files that are likely to contain secrets'],
  ['commit_committer_check', 'Committer email must be a verified email of the user'],
  ['reject_unsigned_commits', 'Reject unsigned commits'],
] as const

const levelsOf = (levels: readonly Records['ProtectedRefAccess'][]) =>
  levels.map(({ access_level_description: words }) => words.replace(/^Masters$/, 'Maintainers')).join(', ') || 'No one'

export const page = declare<Data, InProject>({
  signedIn: true,
  frame: projectSettingsFrame,
  load({ api, params }) {
    const id = params.id!
    return {
      branches: api.get('/projects/{id}/protected_branches', { id, per_page: 100 }),
      tags: api.get('/projects/{id}/protected_tags', { id, per_page: 100 }),
      keys: api.get('/projects/{id}/deploy_keys', { id, per_page: 100 }),
      tokens: api.get('/projects/{id}/deploy_tokens', { id, active: true, per_page: 100 }),
      rule: api.maybe('/projects/{id}/push_rule', { id }),
    }
  },
  title: () => 'Repository settings',
  View: ({ branches, tags, keys, tokens, rule }) => (
    <>
      <h1>Repository settings</h1>
      <Notice />
      <Chapter title="Protected branches" hint="Protected from deletion; only selected roles can push.">
        {branches.length > 0 && (
          <Rows label="Protected branches">
            {branches.map((branch) => (
              <Row
                key={branch.id}
                lead={<Icon name="lock" />}
                title={<code>{branch.name}</code>}
                facts={`push: ${levelsOf(branch.push_access_levels)} · merge: ${levelsOf(branch.merge_access_levels)}${branch.allow_force_push ? ' · force push allowed' : ''}`}
                aside={
                  !branch.inherited && (
                    <ActButton
                      action="unprotectBranch"
                      fields={{ name: branch.name }}
                      kind="danger"
                      confirm={`Unprotect ${branch.name}?`}
                    >
                      Unprotect
                    </ActButton>
                  )
                }
              />
            ))}
          </Rows>
        )}
        <Fold title="Protect branch" action="protectBranch">
          <Form action="protectBranch" resets>
            <Field name="name" label="Branch" required hint="Branch name or wildcard such as release/*" />
            <Choice name="merge" label="Allowed to merge" options={LEVELS} value="40" />
            <Choice name="push" label="Allowed to push" options={LEVELS} value="40" />
            <Switch name="force" label="Allow force push" />
            <Button kind="main">Protect branch</Button>
          </Form>
        </Fold>
      </Chapter>
      <Chapter title="Protected tags" hint="Only selected roles can create; protected from updates and deletion.">
        {tags.length > 0 && (
          <Rows label="Protected tags">
            {tags.map((tag) => (
              <Row
                key={tag.name}
                lead={<Icon name="tag" />}
                title={<code>{tag.name}</code>}
                facts={`create: ${levelsOf(tag.create_access_levels)}`}
                aside={
                  <ActButton
                    action="unprotectTag"
                    fields={{ name: tag.name }}
                    kind="danger"
                    confirm={`Unprotect ${tag.name}?`}
                  >
                    Unprotect
                  </ActButton>
                }
              />
            ))}
          </Rows>
        )}
        <Fold title="Protect tag" action="protectTag">
          <Form action="protectTag" resets>
            <Field name="name" label="Tag" required hint="Tag name or wildcard such as v*" />
            <Choice name="create" label="Allowed to create" options={LEVELS} value="40" />
            <Button kind="main">Protect tag</Button>
          </Form>
        </Fold>
      </Chapter>
      <Chapter title="Deploy keys" hint="SSH keys for servers and scripts with access to this project only.">
        {keys.length > 0 && (
          <Rows label="Deploy keys">
            {keys.map((key) => (
              <Row
                key={key.id}
                lead={<Icon name="lock" />}
                title={
                  <>
                    {key.title} {key.can_push && <span class="badge">write access</span>}
                  </>
                }
                facts={
                  <>
                    <code>{key.fingerprint_sha256}</code> · added <Time at={key.created_at} />
                    {key.last_used_at && (
                      <>
                        , last used <Time at={key.last_used_at} />
                      </>
                    )}
                  </>
                }
                aside={
                  <ActButton
                    action="removeKey"
                    fields={{ key: key.id }}
                    kind="danger"
                    confirm={`Delete “${key.title}”?`}
                  >
                    {' '}
                    Delete{' '}
                  </ActButton>
                }
              />
            ))}
          </Rows>
        )}
        <Fold title="Add deploy key" action="addKey">
          <Form action="addKey" resets>
            <Field name="title" label="Title" required />
            <Field name="key" label="Public key" lines={3} required />
            <Switch name="can_push" label="Grant write permissions" />
            <Button kind="main">Add key</Button>
          </Form>
        </Fold>
      </Chapter>
      <DeployTokens tokens={tokens} />
      <Chapter title="Push rules" hint="Rules every push must satisfy.">
        <Form action="rules">
          {RULE_TEXTS.map(([name, label]) => (
            <Field name={name} label={label} value={rule?.[name]} placeholder="regular expression" key={name} />
          ))}
          <Field
            name="max_file_size"
            label="Maximum file size (MB)"
            type="number"
            value={rule?.max_file_size ?? 0}
            hint="0: any."
          />
          {RULE_FLAGS.map(([name, label]) => (
            <Switch name={name} label={label} isOn={rule?.[name] ?? false} key={name} />
          ))}
          <Button>Save push rules</Button>
        </Form>
      </Chapter>
    </>
  ),
  actions: {
    async protectBranch({ api, params, form }) {
      await api.post('/projects/{id}/protected_branches', {
        id: params.id!,
        name: text(form, 'name'),
        merge_access_level: count(form, 'merge') as Level,
        push_access_level: count(form, 'push') as Level,
        allow_force_push: flag(form, 'force'),
      })
    },
    async unprotectBranch({ api, params, form }) {
      await api.delete('/projects/{id}/protected_branches/{name}', { id: params.id!, name: text(form, 'name') })
    },
    async protectTag({ api, params, form }) {
      await api.post('/projects/{id}/protected_tags', {
        id: params.id!,
        name: text(form, 'name'),
        create_access_level: count(form, 'create') as Level,
      })
    },
    async unprotectTag({ api, params, form }) {
      await api.delete('/projects/{id}/protected_tags/{name}', { id: params.id!, name: text(form, 'name') })
    },
    async addKey({ api, params, form }) {
      await api.post('/projects/{id}/deploy_keys', {
        id: params.id!,
        title: text(form, 'title'),
        key: text(form, 'key'),
        can_push: flag(form, 'can_push'),
      })
    },
    async removeKey({ api, params, form }) {
      await api.delete('/projects/{id}/deploy_keys/{key_id}', { id: params.id!, key_id: text(form, 'key') })
    },
    ...deployTokenActions('project'),
    async rules({ api, params, form }) {
      const id = params.id!
      const input = {
        id,
        ...Object.fromEntries(RULE_TEXTS.map(([name]) => [name, text(form, name)])),
        ...flags(
          form,
          RULE_FLAGS.map(([name]) => name),
        ),
        max_file_size: count(form, 'max_file_size') ?? 0,
      }
      const isSet = (await api.maybe('/projects/{id}/push_rule', { id })) !== null
      await (isSet ? api.put('/projects/{id}/push_rule', input) : api.post('/projects/{id}/push_rule', input))
      return { told: { notice: 'Push rules saved.' } }
    },
  },
})
