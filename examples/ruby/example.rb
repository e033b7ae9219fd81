# Stores an exchange, builds a context from it, and finds it again: bash examples/run ruby 127.0.0.1:50051

require "utterd/v1/context_service_services_pb"
require "utterd/v1/conversation_service_services_pb"
require "utterd/v1/memory_service_services_pb"

include Utterd::V1

said = [
  NewUtterance.new(role: :ROLE_USER, content: "My flight HAT136 leaves on May 23. Can I move it to the morning?"),
  NewUtterance.new(role: :ROLE_ASSISTANT, content: "HAT136 can move to 07:40 on May 23 for 35 euros.")
]

server = [ARGV[0], :this_channel_is_insecure]
conversations = ConversationService::Stub.new(*server)
contexts = ContextService::Stub.new(*server)
memory = MemoryService::Stub.new(*server)
created = conversations.create_conversation(CreateConversationRequest.new(recipient_id: "alice"))
id = created.conversation.conversation_id
stored = memory.memorize(MemorizeRequest.new(conversation_id: id, utterances: said))
built = contexts.build_context(BuildContextRequest.new(conversation_id: id, token_budget: 2000))
found = memory.remember(RememberRequest.new(conversation_id: id, prompt: "how many euros?"))

puts "memorized #{stored.memorized.size} utterances: #{stored.capacity.token_count} tokens"
puts built.messages_json
puts "#{built.token_count} tokens of #{built.token_budget}"
found.matches.each { |match| puts format("%.2f %s", match.score, match.utterance.content) }
