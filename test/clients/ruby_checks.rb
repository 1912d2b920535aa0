# What the scripts of ruby-gitlab say of what they see.

require 'gitlab'

def same(what, seen, expected)
  raise "#{what}:\n  saw      #{seen.inspect}\n  expected #{expected.inspect}" unless seen == expected
end

def refused(what, status, message)
  yield
rescue Gitlab::Error::ResponseError => error
  same(what, [error.response_status, error.message[/message: (.*)\. Request URI/m, 1]], [status, message])
else
  raise "#{what}: was accepted"
end

def until_so(what)
  deadline = Time.now + 30
  until yield
    raise "#{what}: not within 30 s" if Time.now > deadline

    sleep 0.1
  end
end
