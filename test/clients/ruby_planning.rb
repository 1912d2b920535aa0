# Drives a started Mortise with ruby-gitlab: issues and all that teams plan with.

require_relative 'ruby_checks'

URL, TOKEN = ARGV
GL = Gitlab.client(endpoint: "#{URL}/api/v4", private_token: TOKEN)

project = GL.create_project('Mill', visibility: 'public').id
label = GL.create_label(project, 'bug', '#ff0000')
milestone = GL.create_milestone(project, 'v1', due_date: '2999-01-01')
issue = GL.create_issue(project, 'It jams', description: 'Badly', labels: 'bug', milestone_id: milestone.id)
same('a new issue', [issue.iid, issue.state, issue.labels], [1, 'opened', ['bug']])
same('its milestone', GL.milestone_issues(project, milestone.id).map(&:iid), [1])
same('a filtered list', GL.issues(project, state: 'opened', labels: 'bug').map(&:iid), [1])

note = GL.create_issue_note(project, 1, 'A note')
same('notes', GL.issue_notes(project, 1).map(&:id), [note.id])
award = GL.create_award_emoji(project, 1, 'issue', 'tada')
same('reactions', GL.award_emojis(project, 1, 'issue').map(&:name), ['tada'])
GL.delete_award_emoji(project, 1, 'issue', award.id)
same('a subscription', GL.unsubscribe_from_issue(project, 1).subscribed, false)
same('an estimate', GL.estimate_time_of_issue(project, 1, '2h').time_estimate, 7200)
GL.add_time_spent_on_issue(project, 1, '1h')
same('time spent', GL.time_stats_for_issue(project, 1).total_time_spent, 3600)

board = GL.boards(project).first
list = GL.create_board_list(project, board.id, label.id)
same('a board', GL.board_lists(project, board.id).map(&:id), [list.id])
same('closed', GL.close_issue(project, 1).state, 'closed')
same('reopened', GL.reopen_issue(project, 1).state, 'opened')
snippet = GL.create_snippet(project, title: 's', file_name: 'a.txt', code: 'hello', visibility: 'public')
same('a snippet', GL.snippets(project).map(&:id), [snippet.id])
same('todos', GL.todos.map(&:action_name), [])
refused('a blank title', 400, "'title' can't be blank") { GL.create_issue(project, ' ') }
GL.delete_issue(project, 1)
same('nothing is left', GL.issues(project).map(&:iid), [])
puts "ruby-gitlab #{Gitlab::VERSION} is content"
