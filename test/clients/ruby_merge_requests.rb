# Drives a started Mortise with ruby-gitlab: merge requests, from the first commit to the merge.

require_relative 'ruby_checks'

URL, TOKEN = ARGV
GL = Gitlab.client(endpoint: "#{URL}/api/v4", private_token: TOKEN)

def iids(things)
  things.map(&:iid)
end

def commit(branch, message, files, **wish)
  actions = files.map { |path, text| { action: 'create', file_path: path, content: text } }
  GL.create_commit(PROJECT, branch, message, actions, **wish)
end

def request(source, title, **wish)
  GL.create_merge_request(PROJECT, title, source_branch: source, target_branch: 'master', **wish)
end

JANE = GL.create_user('jane@example.com', 'correct horse', 'jane', name: 'Jane', skip_confirmation: true).id
KEY = GL.post("/users/#{JANE}/impersonation_tokens", body: { name: 'tests', scopes: ['api'] }).token
HERS = Gitlab.client(endpoint: "#{URL}/api/v4", private_token: KEY)
PROJECT = GL.create_project('Saw', visibility: 'public').id
GL.add_team_member(PROJECT, JANE, 30)
commit('master', 'First', { 'a.txt' => "one\ntwo\n" })

def make_and_find
  bug = GL.create_issue(PROJECT, 'It jams')
  head = commit('oil', 'Oil it', { 'oil.txt' => "oil\nmore\n" }, start_branch: 'master')
  made = request('oil', 'Oil', description: "Closes ##{bug.iid}", labels: 'bug,now', assignee_id: JANE)
  same('a new one', [made.iid, made.state, made.labels, made.sha], [1, 'opened', %w[bug now], head.id])
  same('its people', [made.author.username, made.assignee.username], %w[root jane])
  refused('one without a target', 400, '400 (Bad request) target_branch not given') do
    GL.create_merge_request(PROJECT, 'x', source_branch: 'oil')
  end
  commit('rust', 'Rust', { 'rust.txt' => "rust\n" }, start_branch: 'master')
  request('rust', 'Rust')
  same('all', iids(GL.merge_requests(PROJECT, per_page: 1).auto_paginate), [2, 1])
  same('some', iids(GL.merge_requests(PROJECT, labels: 'bug', state: 'opened')), [1])
  same('by their numbers', iids(GL.merge_requests(PROJECT, iids: [2, 7])), [2])
  same('of everywhere', iids(GL.user_merge_requests(scope: 'all', search: 'rus')), [2])
  same('hers', iids(HERS.user_merge_requests(scope: 'assigned_to_me')), [1])
  same('of a commit', iids(GL.commit_merge_requests(PROJECT, head.id)), [1])
  same('closing an issue', iids(GL.merge_requests_closing_issue_on_merge(PROJECT, bug.iid)), [1])
  same('what it closes', iids(GL.merge_request_closes_issues(PROJECT, 1)), [bug.iid])
  same('participants', GL.merge_request_participants(PROJECT, 1).map(&:username).sort, %w[jane root])
  refused('an unknown one', 404, '404 Not found') { GL.merge_request(PROJECT, 99) }
end

def change
  changed = GL.update_merge_request(PROJECT, 1, title: 'Draft: Oil', labels: 'bug', state_event: 'close')
  seen = [changed.title, changed.draft, changed.labels, changed.state]
  same('as it was changed', seen, ['Draft: Oil', true, ['bug'], 'closed'])
  same('reopened', GL.update_merge_request(PROJECT, 1, title: 'Oil', state_event: 'reopen').state, 'opened')
  states = GL.merge_request_state_events(PROJECT, 1)
  same('its states', states.map(&:state), %w[closed reopened])
  same('a state', GL.merge_request_state_event(PROJECT, 1, states.first.id).state, 'closed')
  labels = GL.merge_request_label_events(PROJECT, 1)
  same('its labels', labels.map { |one| [one.action, one.label.name] }, [%w[add bug], %w[add now], %w[remove now]])
  same('a label', GL.merge_request_label_event(PROJECT, 1, labels.first.id).action, 'add')
  same('unsubscribed', GL.unsubscribe_from_merge_request(PROJECT, 1).subscribed, false)
  same('subscribed', GL.subscribe_to_merge_request(PROJECT, 1).subscribed, true)
  same('commits', GL.merge_request_commits(PROJECT, 1).map(&:title), ['Oil it'])
  same('changes', GL.merge_request_changes(PROJECT, 1).changes.map { |one| one['new_path'] }, ['oil.txt'])
  versions = GL.merge_request_diff_versions(PROJECT, 1)
  newest = GL.merge_request_diff_version(PROJECT, 1, versions.first.id)
  same('a version', [newest.real_size, newest.diffs.first['new_path']], ['1', 'oil.txt'])
end

def talk
  note = GL.create_merge_request_note(PROJECT, 1, 'A word')
  same('a note', GL.merge_request_note(PROJECT, 1, note.id).body, 'A word')
  same('changed', GL.edit_merge_request_note(PROJECT, 1, note.id, 'Another').body, 'Another')
  same('notes', GL.merge_request_notes(PROJECT, 1).reject(&:system).map(&:body), ['Another'])
  GL.delete_merge_request_note(PROJECT, 1, note.id)
  same('no notes', GL.merge_request_notes(PROJECT, 1).reject(&:system).to_a, [])
  award = GL.create_award_emoji(PROJECT, 1, 'merge_request', 'tada')
  same('reactions', GL.award_emojis(PROJECT, 1, 'merge_request').map(&:name), ['tada'])
  same('a reaction', GL.award_emoji(PROJECT, 1, 'merge_request', award.id).name, 'tada')
  GL.delete_award_emoji(PROJECT, 1, 'merge_request', award.id)

  refs = GL.merge_request(PROJECT, 1).diff_refs.to_h
  place = { position_type: 'text', old_path: 'oil.txt', new_path: 'oil.txt', new_line: 2 }.merge(refs)
  thread = HERS.create_merge_request_discussion(PROJECT, 1, body: 'Why?', position: place)
  first = thread.notes.first
  same('on a line', [first['type'], first['position']['new_line'], first['resolved']], ['DiffNote', 2, false])
  answer = GL.create_merge_request_discussion_note(PROJECT, 1, thread.id, body: 'So')
  GL.update_merge_request_discussion_note(PROJECT, 1, thread.id, answer.id, body: 'Because')
  shown = GL.merge_request_discussion(PROJECT, 1, thread.id)
  same('an answer', shown.notes.map { |one| one['body'] }, ['Why?', 'Because'])
  resolved = GL.resolve_merge_request_discussion(PROJECT, 1, thread.id, resolved: true)
  same('resolved', resolved.notes.map { |one| one['resolved'] }, [true, true])
  GL.delete_merge_request_discussion_note(PROJECT, 1, thread.id, answer.id)
  threads = GL.merge_request_discussions(PROJECT, 1).reject(&:individual_note)
  same('threads', threads.map { |one| [one.id, one.notes.size] }, [[thread.id, 1]])
end

def approve
  GL.edit_project_merge_request_approvals(PROJECT, reset_approvals_on_push: true)
  same('settings', GL.project_merge_request_approvals(PROJECT).reset_approvals_on_push, true)
  rule = GL.create_project_merge_request_approval_rule(PROJECT, name: 'Two', approvals_required: 2, user_ids: [JANE])
  GL.update_project_merge_request_approval_rule(PROJECT, rule.id, name: 'One', approvals_required: 1)
  rules = GL.project_merge_request_approval_rules(PROJECT)
  same('rules', rules.map { |one| [one.name, one.approvals_required] }, [['One', 1]])
  same('asked', GL.merge_request_approval_state(PROJECT, 1).rules.map { |one| one['approved'] }, [false])
  given = HERS.approve_merge_request(PROJECT, 1, sha: GL.merge_request(PROJECT, 1).sha)
  same('given', [given.approved, given.approved_by.first['user']['username']], [true, 'jane'])
  same('as all see it', GL.merge_request_approvals(PROJECT, 1).approvals_left, 0)
  same('taken back', HERS.unapprove_merge_request(PROJECT, 1).approved_by, [])
  GL.delete_project_merge_request_approval_rule(PROJECT, rule.id)
  GL.edit_project_merge_request_approvals(PROJECT, approvals_before_merge: 1)
  same('more of one', GL.edit_merge_request_approvals(PROJECT, 1, approvals_required: 2).approvals_required, 2)
  GL.edit_project_merge_request_approvals(PROJECT, approvals_before_merge: 0)
  same('none asked', GL.edit_merge_request_approvals(PROJECT, 1, approvals_required: 0).approved, true)
end

def merge
  refused('a stale sha', 409, 'SHA does not match HEAD of source branch') do
    GL.accept_merge_request(PROJECT, 1, sha: '0' * 40)
  end
  merged = GL.accept_merge_request(PROJECT, 1, merge_commit_message: 'Oiled', should_remove_source_branch: true)
  same('merged', [merged.state, merged.merged_by.username], %w[merged root])
  newest = GL.commit(PROJECT, 'master')
  same('its commit', [newest.id, newest.message], [merged.merge_commit_sha, 'Oiled'])
  until_so('the branch is gone') { GL.branches(PROJECT).map(&:name) == %w[master rust] }
  until_so('the issue is closed') { GL.issue(PROJECT, 1).state == 'closed' }
  refused('twice', 406, 'Method Not Allowed') { GL.accept_merge_request(PROJECT, 1) }
end

make_and_find
change
talk
approve
merge
puts "ruby-gitlab #{Gitlab::VERSION} is content"
