// Stores an exchange, builds a context from it, and finds it again: bash examples/run kotlin 127.0.0.1:50051

import com.utterd.v1.*
import io.grpc.ManagedChannelBuilder
import java.util.Locale

fun main(arguments: Array<String>) {
    val said = listOf(
        said(Role.ROLE_USER, "My flight HAT136 leaves on May 23. Can I move it to the morning?"),
        said(Role.ROLE_ASSISTANT, "HAT136 can move to 07:40 on May 23 for 35 euros.")
    )

    val channel = ManagedChannelBuilder.forTarget(arguments[0]).usePlaintext().build()
    val conversations = ConversationServiceGrpc.newBlockingStub(channel)
    val contexts = ContextServiceGrpc.newBlockingStub(channel)
    val memory = MemoryServiceGrpc.newBlockingStub(channel)
    val created = conversations.createConversation(CreateConversationRequest.newBuilder().setRecipientId("alice").build())
    val id = created.conversation.conversationId
    val stored = memory.memorize(MemorizeRequest.newBuilder().setConversationId(id).addAllUtterances(said).build())
    val built = contexts.buildContext(BuildContextRequest.newBuilder().setConversationId(id).setTokenBudget(2000).build())
    val found = memory.remember(RememberRequest.newBuilder().setConversationId(id).setPrompt("how many euros?").build())

    println("memorized ${stored.memorizedCount} utterances: ${stored.capacity.tokenCount} tokens")
    println(built.messagesJson)
    println("${built.tokenCount} tokens of ${built.tokenBudget}")
    for (match in found.matchesList) {
        println("%.2f %s".format(Locale.ROOT, match.score, match.utterance.content))
    }
    channel.shutdown()
}

fun said(role: Role, content: String): NewUtterance =
    NewUtterance.newBuilder().setRole(role).setContent(content).build()
